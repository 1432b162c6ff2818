"""Instruments of a lab: saved, revised, shared, archived, handed on as files, and those that come along."""

import pytest
from django.core.management import call_command

from accounts.errors import Conflict, Forbidden, Invalid
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
from tests.cases import each_case

DEFINITION = {"dimensions": [{"kind": "yes_no", "name": "lies", "title": "Lies", "needs_quotation": True}]}
OTHER = {**DEFINITION, "sees": {"reasoning": True}}


@pytest.fixture
def lies(alice):
    return services.save(owner=alice, title="Lies", definition=DEFINITION)


def test_an_edit_is_another_version_and_the_first_one_stays(alice, lies):
    second = services.revise(lies, by=alice, definition=OTHER, title="Plain lies")

    assert (second.number, second.parsed.sees.reasoning, lies.parsed.sees.reasoning) == (2, True, False)
    assert Instrument.objects.get(owner=alice).title == "Plain lies"
    assert services.revise(second, by=alice, definition=OTHER) == second
    with pytest.raises(Conflict):
        services.revise(lies, by=alice, definition=DEFINITION)
    with pytest.raises(NeverChanged):
        lies.save()
    with pytest.raises(NeverChanged):
        InstrumentVersion.objects.update(number=7)
    assert list(lies.instrument.versions.values_list("number", flat=True)) == [2, 1]


def test_only_who_may_see_it_knows_of_it_and_only_its_owner_changes_it(alice, bob, lies):
    assert not Instrument.objects.visible_to(bob).filter(owner=alice).exists()
    services.revise(lies, by=alice, definition=DEFINITION, shared=True)

    assert Instrument.objects.usable_by(bob).get(owner=alice) == lies.instrument
    with pytest.raises(Forbidden):
        services.revise(lies, by=bob, definition=OTHER)
    with pytest.raises(Forbidden):
        services.archive(lies.instrument, by=bob)

    assert services.archive(lies.instrument, by=alice)
    assert not Instrument.objects.usable_by(bob).filter(owner=alice).exists()
    assert not services.archive(lies.instrument, by=alice)


@each_case(
    ("given", "field"),
    [
        ({"title": " "}, "title"),
        ({"definition": {**DEFINITION, "seconds": 0}}, "definition.seconds"),
        ({"definition": {"dimensions": [{"kind": "mood", "name": "a", "title": "A"}]}}, "definition.dimensions.0"),
        ({"definition": "yes"}, "definition"),
    ],
)
def test_what_is_wrong_is_said_by_its_field(alice, given, field):
    with pytest.raises(Invalid) as refused:
        services.save(**{"owner": alice, "title": "Lies", "definition": DEFINITION, **given})

    assert set(refused.value.errors) == {field}
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
    assert (
        Instrument.objects.visible_to(alice).count() == len(builtin.translated()) == InstrumentVersion.objects.count()
    )
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
