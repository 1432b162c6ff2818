"""Scenarios and system contexts, one's own and built in: written, saved, revised, compared, shared, copied, found."""

import json
from uuid import UUID

import pytest
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry
from experiments.library import presets, scenarios
from experiments.library.builtin import CUSTOM, builtin_presets
from experiments.library.differences import lines_between
from experiments.library.presets import chosen_context, presets_for
from experiments.library.scenarios import scenarios_for
from experiments.models import Preset, Run, Scenario
from tests.experiments.library.conftest import CONFIG, PROMPT
from tests.fixtures import signed_in
from tests.hanging import without_hanging


def filled(read, page, **changes):
    """What a browser sends of the form, with these changes."""
    return {**read(page).form(id="scenario-form"), **changes}


def test_it_takes_over_what_a_run_was_set_up_with(browser, arena, start, read):
    experiment = arena(prompt=PROMPT, max_turns=9, limits={"cost": 1.5}, first="B")

    for query in (f"?run={start(experiment).pk}", f"?experiment={experiment.pk}"):
        path = reverse("scenario-new") + query
        sent = filled(read, browser.get(path))
        browser.post(path, sent)
        assert sent["title"] == experiment.title, query
    assert [one.config for one in Scenario.objects.all()] == [experiment.config] * 2


def test_it_is_written_and_complaints_stand_at_their_fields_and_what_was_typed_is_kept(browser, alice, read):
    path = reverse("scenario-new")
    sent = filled(read, browser.get(path), title="Dry", prompt=" ", max_turns="9")
    response = browser.post(path, sent)
    page = read(response)
    assert response.status_code == 422
    assert page.by_id("id_prompt-error").text.startswith("The prompt is empty")
    assert (page.by_id("id_title").get("value"), page.by_id("id_max_turns").get("value")) == ("Dry", "9")

    page = read(browser.post(path, {**sent, "title": "", "max_turns": "101", "limits-cost": "-1"}))
    assert {"id_title-error", "id_max_turns-error", "id_limits-cost-error"} <= {e.get("id") for e in page.root.iter()}
    assert not Scenario.objects.exists()

    browser.post(path, {**sent, "title": "The  well ", "description": "Dry.", "kind": "competition", "prompt": PROMPT})
    saved = Scenario.objects.get()
    assert (saved.title, saved.description, saved.kind, saved.version) == ("The well", "Dry.", "competition", 1)
    assert (saved.owner, saved.shared, saved.config["prompt"]) == (alice, False, PROMPT)


def test_what_could_not_be_played_or_does_not_fit_is_refused_by_name(alice):
    for fields in (
        *({"config": wrong} for wrong in ({}, {"prompt": "  "}, {"prompt": "x", "seats": 3}, [], None)),
        *({"title": wrong} for wrong in ("", "x" * 121, "\ud800")),
        *({"kind": "war"}, {"description": "x" * 2001}),
    ):
        with pytest.raises(Invalid) as refusal:
            scenarios.save_scenario(owner=alice, **{"title": "x", "config": CONFIG, **fields})
        assert {name.partition(".")[0] for name in refusal.value.errors} == set(fields), fields
    assert not Scenario.objects.exists()


def test_a_change_is_a_new_version_with_its_script_and_an_old_one_becomes_the_newest(browser, alice, well, read):
    path = reverse("scenario-edit", args=[well.pk])
    browser.post(path, filled(read, browser.get(path), prompt="Another text.", max_turns="7"))
    old, new = Scenario.objects.order_by("version")
    assert (old.pk, old.config["prompt"], old.config["max_turns"]) == (well.pk, PROMPT, 4)
    assert (new.version, new.family) == (2, well.family)
    assert (new.config["prompt"], new.config["max_turns"]) == ("Another text.", 7)

    browser.post(path, filled(read, browser.get(path)))
    third = Scenario.objects.get(version=3)
    assert (third.family, third.title, third.config["prompt"]) == (well.family, "The well", PROMPT)

    planned = {
        "interventions": [{"kind": "note", "side": "A", "turn": 1, "text": "Be firm."}],
        "script": [{"text": "Agree now.", "when": "lacks", "pattern": "deal", "to": "B"}],
    }
    kept = scenarios.save_scenario(owner=alice, title="x", config={**CONFIG, **planned})
    path = reverse("scenario-edit", args=[kept.pk])

    browser.post(path, filled(read, browser.get(path), prompt="Changed."))

    second = Scenario.objects.get(version=2, family=kept.family)
    assert {name: second.config[name] for name in planned} == planned
    shown = read(browser.get(reverse("scenario", args=[second.pk]))).text
    assert ("Agree now." in shown, "deal" in shown) == (True, True)


def test_there_is_a_most_and_reviewers_keep_nothing(alice, django_user_model, well, shy, read, monkeypatch):
    reader = django_user_model.objects.create_user("reader", role="reviewer")
    readers = signed_in(reader)
    monkeypatch.setattr(scenarios, "MOST_SCENARIOS", 1)
    monkeypatch.setattr(presets, "MOST_PRESETS", 1)
    for person in (alice, reader):
        with pytest.raises(Forbidden):
            scenarios.save_scenario(owner=person, title="y", config=CONFIG)
        with pytest.raises(Forbidden):
            presets.save_preset(owner=person, name="x", context="y")
        with pytest.raises(Forbidden):
            presets.save_setup(owner=person, workflow="arena", name="x", content={})
    with pytest.raises(Forbidden):
        scenarios.archive_scenario(well, by=reader)
    alice.role = "reviewer"
    with pytest.raises(Forbidden):
        presets.revise_preset(shy, by=alice, name="Bold")

    path = reverse("scenario-new")
    assert readers.post(path, filled(read, readers.get(path), title="x", prompt="y")).status_code == 403
    assert readers.post(reverse("presets"), {"name": "x", "context": "y"}).status_code == 403
    readers.post(reverse("scenario-demonstration", args=["bidding-war"]))
    assert not Run.objects.exists()


def test_the_page_keeps_what_was_typed_and_offers_to_save_after_the_rival(browser, alice, well, read):
    path = reverse("scenario-edit", args=[well.pk])
    sent = filled(read, browser.get(path), prompt="Mine.")
    scenarios.revise_scenario(well, by=alice, title="Theirs", config=CONFIG)

    response = browser.post(path, sent)
    page = read(response)

    assert response.status_code == 409
    assert "Version 2 of this scenario was saved in the meantime" in page.text
    assert page.by_id("id_prompt").text == "Mine."

    for forged in ("99", "-1", "x"):
        assert browser.post(path, {**sent, "base": forged}).status_code in {404, 422}, forged
    assert Scenario.objects.count() == 2
    browser.post(path, page.form(id="scenario-form"))

    assert Scenario.objects.get(version=3).config["prompt"] == "Mine."


def test_over_the_api_one_is_saved_listed_shared_revised_archived_and_copied_and_a_built_in_one_read(api):
    wrong = {**CONFIG, "max_turns": 0, "limits": {"cost": -1}}
    refused = api.post("scenarios/", {"title": "x", "config": wrong})
    assert (refused.status_code, set(refused.json()["errors"])) == (400, {"config.max_turns", "config.limits.cost"})

    saved = api.post("scenarios/", {"title": "The well", "config": CONFIG})
    assert saved.status_code == 201
    id_ = saved.json()["id"]
    assert saved.json()["kind"] == "mixed"
    listed = api.get("scenarios/", search="well").json()
    assert (listed["next"], listed["previous"]) == (None, None)
    [one] = listed["results"]
    assert (one["id"], one["title"], one["owner"], one["builtin"]) == (id_, "The well", "alice", False)
    assert api.get("scenarios/", kind="war").status_code == 400

    assert api.post(f"scenarios/{id_}/share/").json()["shared"] is True
    newer = api.post(f"scenarios/{id_}/versions/", {"title": "Two wells", "config": CONFIG}).json()
    assert (newer["version"], newer["shared"]) == (2, True)
    assert [v["version"] for v in newer["versions"]] == [2, 1]
    assert api.post(f"scenarios/{id_}/versions/", {"title": "x", "config": CONFIG}).status_code == 409, "not the newest"
    assert api.post(f"scenarios/{newer['id']}/archive/").json()["archived"] is True
    assert api.post(f"scenarios/{id_}/copy/").status_code == 201
    assert Scenario.objects.filter(archived=True).count() == 2

    answer = api.get("scenarios/bidding-war/").json()
    assert (answer["id"], answer["builtin"], answer["owner"], answer["version"]) == ("bidding-war", True, None, 1)
    assert answer["versions"] == [{"id": "bidding-war", "version": 1, "title": "Bidding war"}]
    assert api.post("scenarios/bidding-war/share/").status_code == 403
    assert api.post("scenarios/bidding-war/versions/", {"title": "x", "config": CONFIG}).status_code == 403


def marked(line):
    return "".join(f"[{piece.text}]" if piece.is_changed else piece.text for piece in line.pieces)


def test_words_are_marked_within_their_line_long_equal_stretches_left_out_and_hostile_pairs_compared_in_bounded_time():
    signs, same = {"same": " ", "removed": "-", "added": "+", "gap": "~"}, "\n".join("012345678")
    for before, after, wanted in (
        ("a\nb\nc", "a\nb\nc", ["~3"]),
        ("bring four pears home", "bring five pears home", ["-bring [four ]pears home", "+bring [five ]pears home"]),
        ("  bring four pears", "  bring five pears", ["-  bring [four ]pears", "+  bring [five ]pears"]),
        ("all of this goes", "nothing stays here today", ["-all of this goes", "+nothing stays here today"]),
        (f"x\n{same}\ny", f"X\n{same}\nY", ["-x", "+X", " 0", "~7", " 8", "-y", "+Y"]),
        ("a\nb\nc\nx", "a\nb\nc\ny", ["~2", " c", "-x", "+y"]),
        *(("", "a", ["+a"]), ("a", "", ["-a"]), ("", "", [])),
    ):
        lines = lines_between(before, after)
        shown = [f"{signs[line.kind]}{line.count if line.kind == 'gap' else marked(line)}" for line in lines]
        assert shown == wanted, (before, after)
    for before, after in (
        ("a\n" * 40_000, "b\na\n" * 20_000),
        ("a " * 50_000, "b " * 50_000),
        ("\n\n".join("abcdefgh" * 24), "\n\n".join("xyzuvwst" * 24)),
    ):
        with without_hanging():
            assert lines_between(before, after), before[:20]


def test_the_page_of_changes_goes_from_the_older_to_the_newer_version_of_one_scenario(browser, alice, well, read):
    config = {**CONFIG, "prompt": PROMPT.replace("one well", "two wells"), "max_turns": None, "judge": False}
    newer = scenarios.revise_scenario(well, by=alice, title="The wells", kind="mixed", config=config)
    other = scenarios.save_scenario(owner=alice, title="Other", config=CONFIG)
    for refs in ([newer.pk, well.pk], [well.pk, newer.pk]):
        page = read(browser.get(reverse("scenario-changes", args=refs)))
        headings = [h.text for h in page.find("h2")]

        assert "From version 1 to version 2" in page.text
        assert [mark.text for mark in page.find("mark")] == ["well", "wells", "one well.", "two wells."]
        assert {sign.text_content() for sign in page.find("span", class_="sign")} == {" ", "−", "+"}
        assert all(change in page.text for change in ("cooperation → mixed", "yes → no", "4 → no limit"))
        assert "Description" in headings  # the new version has none
        assert "Filter" not in headings
    for against in (other.pk, "bidding-war"):
        assert browser.get(reverse("scenario-changes", args=[well.pk, against])).status_code == 404


def test_all_versions_are_shared_together_and_others_copy_and_change_none(bobs, bobs_api, bob, alice, well, read):
    def listed():
        return [s["owner"] for s in bobs_api.get("scenarios/").json()["results"] if not s["builtin"]]

    assert "The well" not in read(bobs.get(reverse("scenarios"), {"search": "well"})).text
    assert listed() == []
    assert bobs_api.get(f"scenarios/{well.pk}/").status_code == 404
    scenarios.share_scenario(well, by=alice)
    page = read(bobs.get(reverse("scenario", args=[well.pk])))
    assert "Two gardeners share one well." in page.text
    assert "by alice" in page.text
    assert listed() == ["alice"]
    before = Scenario.objects.values().get()
    for name in ("scenario-edit", "scenario-share", "scenario-archive"):
        for ref in (well.pk, "resource-negotiation"):
            sent = {"shared": "0", "archived": "1"}
            assert bobs.post(reverse(name, args=[ref]), sent).status_code == 403, (name, ref)
    assert Scenario.objects.values().get() == before

    newer = scenarios.revise_scenario(well, by=alice, title="The well", config=CONFIG)
    pages = [reverse("scenario", args=[row.pk]) for row in (well, newer)]
    assert [bobs.get(page).status_code for page in pages] == [200, 200]
    response = bobs.post(reverse("scenario-copy", args=[well.pk]))
    scenarios.share_scenario(newer, by=alice, shared=False)
    assert [bobs.get(page).status_code for page in pages] == [404, 404]
    assert [entry.detail["lab"] for entry in AuditEntry.objects.filter(action="shared")] == [False, True]

    copy = Scenario.objects.get(owner=bob)
    assert response["Location"] == reverse("scenario-edit", args=[copy.pk])
    assert (copy.config, copy.version, copy.shared) == (well.config, 1, False)
    assert copy.family != well.family


def test_built_in_ones_come_first_then_mine_then_the_labs_narrowed_by_search_and_kind_in_a_fixed_number_of_queries(
    browser, alice, bob, well, read, django_assert_max_num_queries
):
    scenarios.save_scenario(owner=bob, title="A shared one", config=CONFIG, shared=True, kind="mixed")
    for asked, titles in (
        ({}, ["Resource negotiation", "Emergency recovery", "Bidding war", "The well", "A shared one"]),
        *(({"search": "WELL"}, ["The well"]), ({"search": "august"}, ["The well"])),
        ({"search": "freighter"}, ["Emergency recovery"]),
        ({"kind": "cooperation"}, ["Emergency recovery", "The well"]),
        ({"search": "b", "kind": "competition"}, ["Bidding war"]),
        *(({"search": "zebra"}, []), ({"search": "%"}, [])),
    ):
        found = scenarios_for(alice, **asked)
        assert [choice.title for choice in found] == titles, asked
        assert all(choice.kind_label == Scenario.Kind(choice.kind).label for choice in found), asked

    for number in range(10):
        scenarios.save_scenario(owner=alice, title=f"No. {number}", config=CONFIG)

    with django_assert_max_num_queries(6):
        assert "The well" in read(browser.get(reverse("scenarios"))).text
    for odd in ({"kind": "war"}, {"search": "\x00"}):
        assert browser.get(reverse("scenarios"), odd).status_code == 200, odd
    browser.post(reverse("scenario-archive", args=[well.pk]), {"archived": "1"})
    assert "The well" not in read(browser.get(reverse("scenarios"))).text
    assert "The well" in read(browser.get(reverse("scenarios"), {"archived": "1"})).text
    browser.post(reverse("scenario-archive", args=[well.pk]), {"archived": "0"})
    assert "The well" in read(browser.get(reverse("scenarios"))).text


def test_a_context_is_saved_copied_renamed_revised_and_deleted_on_pages(browser, alice):
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


def test_others_see_a_context_once_it_is_shared_copy_it_and_change_nothing_of_it(bobs, bob, browser, shy, read):
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
