"""Instruments: saved, revised, shared and archived, those that come along, and on their pages, moved as files."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from experiments.library.instruments import builtin, figures, services
from experiments.models import Instrument, InstrumentVersion
from experiments.models.reviewed import NeverChanged
from experiments.workflows.base.instruments import Definition, prompt_parts
from experiments.workflows.base.judge import RANGES, TurnToJudge, judge_step
from experiments.workflows.base.prompts import text_of
from experiments.workflows.base.steps import Cast
from experiments.workflows.battles.instruments import fault_of
from experiments.workflows.battles.prompts import PROMPTS
from experiments.workflows.coding.judging import DIMENSIONS, JUDGE

DEFINITION = {"dimensions": [{"kind": "yes_no", "name": "lies", "title": "Lies", "needs_quotation": True}]}


@pytest.fixture
def lies(alice):
    return services.save(owner=alice, title="Lies", definition=DEFINITION)


def test_only_who_may_see_it_knows_of_it_only_its_owner_changes_it_and_nobody_a_version(alice, bob, lies):
    assert not Instrument.objects.visible_to(bob).filter(owner=alice).exists()
    services.revise(lies, by=alice, definition=DEFINITION, shared=True)

    assert Instrument.objects.usable_by(bob).get(owner=alice) == lies.instrument
    with pytest.raises(Forbidden):
        services.revise(lies, by=bob, definition={**DEFINITION, "sees": {"reasoning": True}})
    with pytest.raises(Forbidden):
        services.archive(lies.instrument, by=bob)
    with pytest.raises(NeverChanged):
        lies.save()
    with pytest.raises(NeverChanged):
        InstrumentVersion.objects.update(number=7)

    assert services.archive(lies.instrument, by=alice)
    assert not Instrument.objects.usable_by(bob).filter(owner=alice).exists()
    assert not services.archive(lies.instrument, by=alice)


def test_what_is_wrong_is_said_by_its_field(alice):
    for given, field in (
        ({"title": " "}, "title"),
        ({"definition": {**DEFINITION, "seconds": 0}}, "definition.seconds"),
        ({"definition": {"dimensions": [{"kind": "mood", "name": "a", "title": "A"}]}}, "definition.dimensions.0"),
        ({"definition": "yes"}, "definition"),
    ):
        with pytest.raises(Invalid) as refused:
            services.save(**{"owner": alice, "title": "Lies", "definition": DEFINITION, **given})
        assert set(refused.value.errors) == {field}, given
    assert not Instrument.objects.filter(owner=alice).exists()


def test_what_judges_of_battles_and_contests_are_asked_comes_along_in_their_own_words():
    found = builtin.builtin()
    for name, prompt in PROMPTS.items():
        definition = found[f"battle_{name}"].definition
        assert found[f"battle_{name}"].title == f"Judge of battles: {prompt.title}"
        asked = {one.name: one.description for one in definition.dimensions}
        assert asked == {
            **{f"{side}_{name}": words for side in "ab" for name, words in prompt.criteria.items()},
            "winner": "Which response is better.",
        }
        assert prompt.rules.strip() in definition.prompt
        assert fault_of(definition) == ""
    text = " ".join(text_of(JUDGE).split())
    scales = found["coding_solution"].definition.dimensions
    assert [one.name for one in scales] == list(DIMENSIONS)
    assert all(f"- {one.name}: {one.description}" in text for one in scales)


def test_the_judge_of_a_turn_is_asked_the_words_of_the_arenas_own_judge():
    one = builtin.builtin()["turn_judge"].definition
    shown = TurnToJudge(1, {"A": "Sell."}, (), {"A": "I sell."}, reasoning={"A": "I lie."})
    asked = " ".join(judge_step("turn/1/judge", Cast(seats={}, seed=3), shown).messages[0].content.split())

    before, _after = prompt_parts(one, ())
    assert all(" ".join(paragraph.split()) in asked for paragraph in before.strip().split("\n\n"))
    assert {name: (scale.low, scale.high) for name, scale in one.by_name.items()} == RANGES
    assert all(scale.description[1:] in asked for scale in one.dimensions)
    assert "from 0 (absent) to 1 (dominant)" in asked
    assert one.by_name["fear"].anchors == {"0": "absent", "1": "dominant"}


def test_those_that_come_along_are_rows_once_all_is_migrated_and_a_changed_file_is_another_version(alice, monkeypatch):
    known = set(Instrument.objects.values_list("slug", flat=True))
    assert known == set(builtin.builtin())
    InstrumentVersion.objects.all().delete()
    Instrument.objects.all().delete()
    call_command("migrate", verbosity=0)
    assert set(Instrument.objects.values_list("slug", flat=True)) == known

    builtin.ensure_builtin()
    seen = Instrument.objects.visible_to(alice).count()
    assert seen == len(builtin.translated()) == InstrumentVersion.objects.count()
    one = builtin.builtin()["refusal"]
    changed = one.model_copy(update={"definition": one.definition.model_copy(update={"seconds": 20.0})})
    monkeypatch.setattr(builtin, "builtin", lambda: {"refusal": changed})
    builtin.ensure_builtin()
    assert Instrument.objects.get(slug="refusal").newest.number == 2
    with pytest.raises(Forbidden):
        services.archive(Instrument.objects.get(slug="refusal"), by=alice)


def test_each_choice_of_categories_has_its_share():
    choices = [{"name": name, "title": name.title()} for name in ("mild", "harsh", "cold")]
    one = {"name": "tone", "title": "Tone", "kind": "categories", "choices": choices, "multiple": True}
    [dimension] = Definition.model_validate({"dimensions": [one]}).dimensions
    told = [(run, value, None) for run, value in enumerate((["mild"], ["mild", "harsh"], None, ["mild"], ["harsh"]))]

    found = list(figures._figures(dimension, "judge", told))

    assert [(figure.choice, figure.value) for figure in found] == [("Mild", 0.75), ("Harsh", 0.5), ("Cold", 0)]
    assert {(figure.n, figure.missing, figure.runs, figure.is_rate) for figure in found} == {(4, 1, 4, True)}


SCALE = {"kind": "scale", "low": "0", "high": "4", "step": "1", "level": "ordinal", "anchors": "0 = none\n4 = all"}
WORDS = {"title": "Concession", "name": "concession", "description": "How far the message gives way."}
CONCESSION = {f"dimensions-0-{name}": value for name, value in {**WORDS, **SCALE}.items()}
THREAT = {
    f"dimensions-1-{name}": value
    for name, value in {"title": "Threat", "name": "", "kind": "yes_no", "needs_quotation": "on"}.items()
}


def filled(read, page, **changes):
    """What a browser sends of the editor, with these changes."""
    return {**read(page).form(id="instrument"), **changes}


@pytest.fixture
def written(browser, read):
    """Alice's instrument with a scale and a question that needs a quotation."""
    path = reverse("instrument-new")
    browser.post(path, filled(read, browser.get(path), title="Giving way", **CONCESSION, **THREAT))
    return Instrument.objects.get(title="Giving way")


def test_a_copy_of_each_built_in_one_asks_the_same(browser, read, alice):
    for version in InstrumentVersion.objects.select_related("instrument"):
        path = f"{reverse('instrument-new')}?from={version.pk}"
        response = browser.post(path, filled(read, browser.get(path)))
        copy = Instrument.objects.filter(owner=alice).latest("created")
        assert response["Location"] == reverse("instrument", args=[copy.pk])
        assert copy.newest.digest == version.digest, version.instrument.slug
    assert Instrument.objects.filter(owner=alice).count() == len(builtin.builtin())


def test_it_is_written_in_the_browser_and_a_change_alone_is_another_version(browser, read, written, alice):
    scale, threat = written.newest.parsed.dimensions
    anchors = {"0": "none", "4": "all"}
    assert (written.owner, written.shared, written.newest.number) == (alice, False, 1)
    assert (scale.name, scale.low, scale.high, scale.anchors) == ("concession", 0, 4, anchors)
    assert (threat.kind, threat.name, threat.needs_quotation) == ("yes_no", "threat", True)

    path = reverse("instrument-edit", args=[written.pk])
    browser.post(path, filled(read, browser.get(path)))
    assert written.versions.count() == 1
    opened_before = filled(read, browser.get(path), **{"dimensions-0-anchors": "0 = nothing at all"})
    browser.post(path, opened_before)
    page = read(browser.get(reverse("instrument-changes", args=[written.pk, 2, 1])))
    assert [mark.text.strip() for mark in page.find("ins")] == ["Anchors, one a line: 0 = nothing at all"]

    again = browser.post(path, {**opened_before, "title": "Late"})
    assert (again.status_code, written.versions.count()) == (409, 2)
    assert read(again).by_id("id_title").get("value") == "Late"


def test_complaints_stand_at_the_row_and_nothing_typed_is_lost(browser, read):
    path = reverse("instrument-new")
    wrong = {**CONCESSION, "dimensions-0-step": "0.3", "dimensions-1-kind": "categories", "dimensions-1-title": "Tone"}
    response = browser.post(path, filled(read, browser.get(path), title="", prompt="Judge it. $what", **wrong))
    page = read(response)

    assert response.status_code == 422
    assert page.by_id("id_title-error").text
    assert "2 to 10 values" in page.by_id("dimensions-0-error").text_content()
    assert page.by_id("dimensions-1-error").text_content().strip()
    assert "$dimensions" in page.by_id("id_prompt-error").text_content()
    assert page.form(id="instrument") == page.form(id="instrument") | wrong | {"prompt": "Judge it. $what"}
    assert not Instrument.objects.filter(owner__isnull=False).exists()


def test_a_file_alone_carries_it_to_somebody_else(browser, bobs, bob, alice, written):
    services.archive(written, by=alice)
    assert bobs.get(f"{reverse('instrument-new')}?from={written.newest.pk}").status_code == 404
    assert b"Giving way" not in bobs.get(f"{reverse('instruments')}?archived=1").content
    file = browser.get(reverse("instrument-file", args=[written.pk, 1]))
    assert file["Content-Disposition"] == 'attachment; filename="giving-way-v1.json"'
    bobs.post(reverse("instrument-import"), {"file": SimpleUploadedFile("x.json", file.content)})
    assert Instrument.objects.get(owner=bob).newest.digest == written.newest.digest

    for content in (b"{}", b"\xff\xfe", b"[" * 300_000):
        page = bobs.post(reverse("instrument-import"), {"file": SimpleUploadedFile("x.json", content)})
        assert page["Location"] == reverse("instruments")
    assert Instrument.objects.filter(owner=bob).count() == 1
