"""System contexts: eleven that come with the platform, and one's own."""

import pytest
from django.urls import reverse

from experiments.casting import InvalidExperiment
from experiments.library import keeping
from experiments.library.presets import CUSTOM, FILES, builtin_presets
from experiments.library.shelf import chosen_context, default_preset, presets_for
from experiments.models import Preset
from experiments.refusals import NotAllowed
from tests.cases import each_case

pytestmark = pytest.mark.django_db


def test_eleven_come_with_the_platform_and_none_is_called_custom():
    given = builtin_presets()

    assert len(given) == 11
    assert CUSTOM not in given
    assert {path.stem for path in FILES.iterdir()} == set(given)


def test_blank_is_truly_empty_and_no_other_is():
    assert [slug for slug, preset in builtin_presets().items() if not preset.context] == ["blank"]
    assert (FILES / "blank.txt").read_bytes() == b""


def test_each_says_something_of_its_own():
    given = builtin_presets().values()

    assert len({preset.context for preset in given}) == len({str(preset.label) for preset in given}) == 11


def test_the_first_is_the_default():
    assert default_preset().id == next(iter(builtin_presets())) == "assistant"


def test_mine_follow_and_then_the_labs(alice, bob, shy):
    keeping.save_preset(owner=bob, name="A bold one", context="Be bold.", shared=True)
    keeping.save_preset(owner=bob, name="Secret", context="Hidden.")

    found = [(choice.label, choice.shelf, choice.owner) for choice in presets_for(alice)[11:]]

    assert found == [("Shy", "mine", "alice"), ("A bold one", "shared", "bob")]


def test_it_is_saved_from_the_page(browser, alice, read):
    [form] = read(browser.get(reverse("presets"))).find("form", class_="stack")

    browser.post(reverse("presets"), {"name": " My  one ", "description": "", "context": "Say\r\nlittle.\n"})
    saved = Preset.objects.get()

    assert form.get("method") == "post"
    assert (saved.owner, saved.name, saved.workflow) == (alice, "My one", "starchamber")
    assert saved.config["context"] == "Say\nlittle."


def test_it_is_renamed_and_revised(browser, shy):
    path = reverse("preset-edit", args=[shy.pk])
    assert browser.post(path, {"name": "Bold", "description": "x", "context": ""}).status_code == 302
    shy.refresh_from_db()

    assert (shy.name, shy.config) == ("Bold", {"context": "", "description": "x"})


def test_a_name_is_taken_once(browser, alice, shy, read):
    with pytest.raises(InvalidExperiment) as refusal:
        keeping.save_preset(owner=alice, name="Shy", context="Other.")
    assert set(refusal.value.errors) == {"name"}

    response = browser.post(reverse("presets"), {"name": "Shy", "context": "Kept while typing."})
    page = read(response)

    assert response.status_code == 422
    assert "preset of this name" in page.by_id("id_name-error").text
    assert page.by_id("id_context").text == "Kept while typing."


def test_two_people_may_use_the_same_name(bob, shy):
    assert keeping.save_preset(owner=bob, name="Shy", context="Mine.")


@each_case(
    "fields",
    [{"name": " "}, {"name": "x" * 81}, {"context": "x" * 100_001}, {"context": "\x00"}, {"description": "\ud800"}],
)
def test_what_does_not_fit_is_refused_by_name(alice, fields):
    with pytest.raises(InvalidExperiment) as refusal:
        keeping.save_preset(owner=alice, **{"name": "x", "context": "y", **fields})

    assert set(refusal.value.errors) == set(fields)
    assert not Preset.objects.exists()


def test_a_refused_revision_changes_nothing(alice, shy):
    keeping.save_preset(owner=alice, name="Taken", context="y")

    with pytest.raises(InvalidExperiment):
        keeping.revise_preset(shy, by=alice, name="Taken", context="z")

    assert Preset.objects.get(pk=shy.pk).config["context"] == "Answer reluctantly."


@each_case("name", ["preset-edit", "preset-share", "preset-delete"])
def test_bob_changes_nothing_of_alices_shared_or_not(bobs, alice, shy, name):
    body = {"name": "Bobs", "context": "x", "shared": "0"}

    assert bobs.post(reverse(name, args=[shy.pk]), body).status_code == 404
    keeping.share_preset(shy, by=alice)
    assert bobs.post(reverse(name, args=[shy.pk]), body).status_code == 404
    shy.refresh_from_db()
    assert (shy.name, shy.shared) == ("Shy", True)


def test_bob_sees_it_once_it_is_shared_and_copies_it(bobs, bob, browser, shy, read):
    assert "Answer reluctantly." not in read(bobs.get(reverse("presets"))).text
    assert bobs.post(reverse("preset-copy", args=[shy.pk])).status_code == 404

    browser.post(reverse("preset-share", args=[shy.pk]), {"shared": "1"})

    assert "Answer reluctantly." in read(bobs.get(reverse("presets"))).text
    bobs.post(reverse("preset-copy", args=[shy.pk]))
    assert Preset.objects.get(owner=bob).config == shy.config


def test_copies_of_one_find_names_that_are_free(browser, alice):
    for _ in range(3):
        browser.post(reverse("preset-copy", args=["assistant"]))

    assert set(Preset.objects.values_list("name", flat=True)) == {"Assistant", "Assistant (2)", "Assistant (3)"}


def test_it_is_deleted(browser, shy):
    browser.post(reverse("preset-delete", args=[shy.pk]))

    assert not Preset.objects.exists()


def test_a_reviewer_keeps_none(readers, reader):
    with pytest.raises(NotAllowed):
        keeping.save_preset(owner=reader, name="x", context="y")
    assert readers.post(reverse("presets"), {"name": "x", "context": "y"}).status_code == 422
    assert readers.get(reverse("presets")).status_code == 200


def test_there_is_a_most(alice, shy, monkeypatch):
    monkeypatch.setattr(keeping, "MOST_PRESETS", 1)

    with pytest.raises(NotAllowed):
        keeping.save_preset(owner=alice, name="x", context="y")


class TestWhatAFormMeans:
    def test_an_unchanged_preset_is_named(self, alice, shy):
        chosen = chosen_context(alice, str(shy.pk), "Answer reluctantly.\r\n")

        assert (chosen.preset, chosen.context) == (str(shy.pk), "Answer reluctantly.")

    def test_a_changed_text_makes_it_custom(self, alice):
        assert chosen_context(alice, "assistant", "Something else.").preset == CUSTOM

    def test_the_text_wins_and_the_record_names_whose_text_it_is(self, alice):
        minimal = builtin_presets()["minimal"].context

        assert chosen_context(alice, "assistant", minimal).preset == "minimal"

    def test_without_a_text_the_preset_gives_its_own(self, alice):
        chosen = chosen_context(alice, "minimal", "")

        assert chosen.context == builtin_presets()["minimal"].context

    def test_blank_stays_blank(self, alice):
        assert chosen_context(alice, "blank", "  \n") == chosen_context(alice, "blank", "")
        assert chosen_context(alice, "blank", "").context == ""

    @pytest.mark.parametrize("preset", ["custom", "", "no-such", "\x00", "00000000-0000-7000-8000-000000000000"])
    def test_no_preset_and_no_text_is_no_system_message(self, alice, preset):
        chosen = chosen_context(alice, preset, "")

        assert (chosen.preset, chosen.context) == (CUSTOM, "")

    def test_a_preset_of_somebody_else_gives_nothing(self, bob, shy):
        assert chosen_context(bob, str(shy.pk), "").context == ""
