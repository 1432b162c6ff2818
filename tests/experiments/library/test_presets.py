"""System contexts: those that come with the platform, and one's own, on pages, in a set-up form and over the API."""

import json
from uuid import UUID

import pytest
from django.urls import reverse

from accounts.errors import Invalid
from experiments.library import presets
from experiments.library.builtin import CUSTOM, builtin_presets
from experiments.library.presets import chosen_context, presets_for
from experiments.models import Preset


def test_it_is_saved_copied_renamed_revised_and_deleted_on_pages(browser, alice):
    browser.post(reverse("presets"), {"name": " My  one ", "description": "", "context": "Say\r\nlittle.\n"})
    saved = Preset.objects.get()
    assert (saved.owner, saved.name, saved.workflow) == (alice, "My one", "starchamber")
    assert saved.config["context"] == "Say\nlittle."

    path = reverse("preset-edit", args=[saved.pk])
    assert browser.post(path, {"name": "Bold", "description": "x", "context": ""}).status_code == 302
    saved.refresh_from_db()
    assert (saved.name, saved.config) == ("Bold", {"context": "", "description": "x"})
    browser.post(reverse("preset-delete", args=[saved.pk]))
    for _ in range(3):
        browser.post(reverse("preset-copy", args=["assistant"]))
    assert set(Preset.objects.values_list("name", flat=True)) == {"Assistant", "Assistant (2)", "Assistant (3)"}


def test_a_person_takes_a_name_that_fits_once_and_finds_their_own_before_the_labs(browser, alice, bob, shy, read):
    other = presets.save_preset(owner=alice, name="Other", context="y")
    with pytest.raises(Invalid) as refusal:
        presets.revise_preset(other, by=alice, name="Shy", context="Other.")
    assert set(refusal.value.errors) == {"name"}
    assert presets.save_preset(owner=bob, name="Shy", context="Mine.")
    presets.save_preset(owner=bob, name="A bold one", context="Be bold.", shared=True)
    found = [(choice.label, choice.origin, choice.owner) for choice in presets_for(alice)[len(builtin_presets()) :]]
    assert found == [("Other", "mine", "alice"), ("Shy", "mine", "alice"), ("A bold one", "shared", "bob")]
    odd = ({"name": " "}, {"name": "x" * 81}, {"context": "x" * 100_001}, {"context": "\x00"})
    for fields in (*odd, {"description": "\ud800"}):
        with pytest.raises(Invalid) as refusal:
            presets.save_preset(owner=alice, **{"name": "x", "context": "y", **fields})
        assert set(refusal.value.errors) == set(fields), fields

    response = browser.post(reverse("presets"), {"name": "Shy", "context": "Kept while typing."})
    page = read(response)

    assert response.status_code == 422
    assert "preset with this name" in page.by_id("id_name-error").text
    assert page.by_id("id_context").text == "Kept while typing."


def test_others_see_it_once_it_is_shared_copy_it_and_change_nothing_of_it(bobs, bob, browser, shy, read):
    assert "Answer reluctantly." not in read(bobs.get(reverse("presets"))).text
    assert bobs.post(reverse("preset-copy", args=[shy.pk])).status_code == 404

    browser.post(reverse("preset-share", args=[shy.pk]), {"shared": "1"})
    assert "Answer reluctantly." in read(bobs.get(reverse("presets"))).text
    bobs.post(reverse("preset-copy", args=[shy.pk]))
    assert Preset.objects.get(owner=bob).config == shy.config

    for name in ("preset-edit", "preset-share", "preset-delete"):
        body = {"name": "Bobs", "context": "x", "shared": "0"}
        assert bobs.post(reverse(name, args=[shy.pk]), body).status_code == 403
    shy.refresh_from_db()
    assert (shy.name, shy.shared) == ("Shy", True)


def test_the_text_wins_and_the_record_names_whose_text_it_is(alice, bob, shy):
    minimal = builtin_presets()["minimal"].context
    for preset, text, found, context in (
        ("assistant", "Something else.", CUSTOM, "Something else."),
        ("assistant", minimal, "minimal", minimal),
        ("minimal", "", "minimal", minimal),
        *(("blank", text, "blank", "") for text in ("  \n", "")),
        (str(shy.pk), "Answer reluctantly.\r\n", str(shy.pk), "Answer reluctantly."),
        *((preset, "", CUSTOM, "") for preset in ("custom", "", "no-such", "\x00", str(UUID(int=7)))),
    ):
        chosen = chosen_context(alice, preset, text)
        assert (chosen.preset, chosen.context) == (found, context), (preset, text)
    assert chosen_context(bob, str(shy.pk), "").context == "", "somebody else's gives nothing"


def test_markup_in_a_text_stays_text(browser, alice, read, provider):
    hostile = "</textarea></script><script>alert(1)</script>"
    saved = presets.save_preset(owner=alice, name="Hostile", context=hostile)
    page = read(browser.get(reverse("starchamber"), {"preset": saved.pk}))

    sent = page.form(id="setup")
    assert (sent["preset"], sent["context"]) == (str(saved.pk), hostile)
    assert "alert(1)" not in "".join(script.text for script in page.find("script") if not script.get("id"))
    offered = json.loads(page.by_id("preset-texts").text_content())
    assert (len(offered), offered[str(saved.pk)]["context"]) == (len(builtin_presets()) + 1, hostile)


def test_over_the_api_all_that_one_may_use_are_listed_and_ones_own_saved_changed_and_deleted(api, bobs_api, shy):
    mine = api.get("presets/", workflow="starchamber").json()["results"]
    his = bobs_api.get("presets/").json()["results"]
    assert [p["id"] for p in mine][-1] == str(shy.pk)
    words = {"label": "Shy", "description": "Says little.", "context": "Answer reluctantly."}
    assert mine[-1] == {"id": str(shy.pk), **words, "builtin": False, "owner": "alice", "shared": False}
    assert api.get("presets/", workflow="council").json()["results"] == []
    assert [p["id"] for p in his] == list(builtin_presets())
    assert all(p["builtin"] and p["owner"] is None for p in his)

    assert api.post("presets/", {"name": "x" * 99, "context": "y"}).status_code == 400
    saved = api.post("presets/", {"name": "Curt", "context": "Be curt."})
    assert saved.status_code == 201
    path = f"presets/{saved.json()['id']}/"
    changed = api.patch(path, {"context": "Be brief.", "shared": True}).json()
    assert (changed["label"], changed["context"], changed["shared"]) == ("Curt", "Be brief.", True)
    assert bobs_api.get(path).json() == changed
    assert [bobs_api.patch(path, {"name": "x"}).status_code, bobs_api.delete(path).status_code] == [403, 403]
    assert [api.patch("presets/blank/", {}).status_code, api.delete("presets/blank/").status_code] == [403, 403]
    assert api.delete(path).json() == changed
    assert Preset.objects.get() == shy
