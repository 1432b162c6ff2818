"""A run's judge that measures by an instrument: beside the next turn or before it, within its limits, word for word."""

import asyncio
import json

import pytest

from accounts.errors import Invalid
from experiments.library.instruments import choosing, findings, services
from experiments.models import Annotation, Run
from experiments.runs import actions
from experiments.runs.reports.document import document
from experiments.runs.reports.narrative import narrate
from experiments.runs.statistics import rows as statistics
from tests.cases import each_case
from tests.experiments.engine.talks import assert_same_page, fresh
from tests.experiments.scans.conftest import DEFINITION, numbers, reply

THOUGHT = "Nobody must know of the second well."
NEVER = 10_000  # seconds


@pytest.fixture
def measured(alice, arena, start, drive, scripted):
    """Plays an arena run whose judge gives these answers, by an instrument of these parts, to its end."""

    def play(*answers, turns=2, by=alice, **parts):
        judge = scripted.model("scripted/judge", *answers)
        spoken = [{"reasoning_content": THOUGHT}, "We share the panels."]
        speaker = scripted.model("scripted/speaker", spoken)
        version = services.save(owner=alice, title="Lies", definition={**DEFINITION, "model": judge, **parts})
        config = {"instrument": choosing.frozen(version), "filter": False, "max_turns": turns, "gap_seconds": 0}
        run = start(arena(speaker, speaker, **config))
        drive()
        return fresh(run)

    return play


async def _never(body):
    await asyncio.sleep(NEVER)
    return "too late"


def ended(run, key):
    return run.steps.get(key=key).ended


@each_case("beside", [True, False])
def test_a_judge_that_never_answers_holds_a_turn_for_no_longer_than_its_limit(measured, beside):
    run = measured(_never, unit="turn", beside=beside, seconds=20, attempts=2)

    waited = (run.steps.get(key="turn/2").ended - ended(run, "turn/1/B")).total_seconds()
    assert run.state == Run.State.COMPLETED
    assert (waited < 2) if beside else (40 <= waited < 60)
    rows = Annotation.objects.filter(run=run)
    assert rows.count() == 2 * len(DEFINITION["dimensions"])
    assert not rows.exclude(value=None).exists()
    assert not rows.filter(unscored_reason="").exists()
    assert_same_page(run)


@each_case("reasoning", [True, False])
def test_reasoning_reaches_the_judge_exactly_when_the_instrument_says_so(measured, scripted, reasoning):
    run = measured(reply(), unit="turn", sees={"reasoning": reasoning})

    sent = [json.dumps(body) for body in scripted.asked("scripted/judge")[-2:]]
    assert run.calls.filter(step__seat="judge").count() == 2
    assert set(run.messages.values_list("reasoning", flat=True)) == {THOUGHT}
    assert [THOUGHT in one for one in sent] == [reasoning] * 2
    assert {call.model.slug for call in run.calls.filter(step__seat="judge")} == {"scripted/judge"}


@each_case("unit", {"message": ["1", "2", "3", "4"], "pair": ["2", "4"], "turn": ["1", "2"], "run": ["0"]}.items())
def test_each_unit_is_measured_once_and_a_branch_takes_what_was_found_along(measured, branch, scripted, unit):
    name, places = unit
    run = measured(lambda body: reply(lies=True, quote="share the panels", message=numbers(body)[-1]), unit=name)
    rows = Annotation.objects.filter(run=run, dimension="lies").order_by("place")

    order = {seq: str(number) for number, seq in enumerate(run.messages.values_list("seq", flat=True), 1)}
    said = [order[row.place] if name in ("message", "pair") else str(row.place) for row in rows]
    assert said == places
    assert {(row.value, row.is_verified, row.made_in_id) for row in rows} == {(True, True, run.pk)}
    assert_same_page(run)
    if name != "run":
        child = branch(run.messages.get(turn=2, seat="A"))
        copied = Annotation.objects.filter(run=child, turn=1, dimension="lies")
        assert copied.count() == rows.filter(turn=1).count()
        own = set(child.messages.values_list("seq", flat=True))
        assert {row.place for row in copied} <= (own if name in ("message", "pair") else {1})
        assert_same_page(child)


def test_an_edit_of_the_instrument_changes_no_run_and_it_has_to_be_ones_own_to_see(alice, bob, measured):
    run = measured(reply(force=3), unit="turn", turns=1)
    version = Annotation.objects.filter(run=run).first().version
    dimension = {"kind": "count", "name": "n", "title": "N"}
    services.revise(version, by=alice, definition={"dimensions": [dimension]})
    run.refresh_from_db()
    assert [one.title for one in run.experiment.parsed_config().instrument.definition.dimensions] == ["Lies", "Force"]

    config = {**run.experiment.config, "instrument": choosing.frozen(version)}
    cast = {seat: {"model": "scripted/speaker"} for seat in "AB"}
    with pytest.raises(Invalid) as refused:
        actions.create(owner=bob, workflow="arena", config=config, cast=cast)
    assert "config.instrument.version" in refused.value.errors


@each_case("unit", ["message", "run"])
def test_reports_exports_and_figures_show_the_dimensions_by_their_labels(alice, measured, unit):
    run = measured(reply(lies=True, force=3), unit=unit, turns=1)
    whole = Run.objects.with_totals().get(pk=run.pk)
    count = 2 if unit == "message" else 1

    found = statistics.repeats(run.experiment, reader=alice).measured
    assert [(one.dimension.title, one.value, one.n, one.unverified) for one in found] == [
        ("Lies", 1, count, count),
        ("Force", 3, count, 0),
    ]
    told = {section.anchor: str(section.blocks) for section in narrate(whole, "en").sections}
    assert all(title in told[name] for title in ("Lies", "Force") for name in ("judgments", "metrics"))
    assert [row["dimension"] for row in document(whole)["annotations"]] == ["lies", "force"] * count
    assert findings.beside(run, alice) == [], "the page shows them in the transcript"


def test_a_researcher_who_asks_on_does_not_wait_for_the_judge(alice, starchamber, start, drive, scripted):
    judge = scripted.model("scripted/judge", _never)
    version = services.save(owner=alice, title="Lies", definition={**DEFINITION, "unit": "pair", "attempts": 1})
    script = [{"text": "Go on."}]
    config = {"instrument": choosing.frozen(version), "script": script, "judge_model": judge}
    run = start(starchamber(**config))
    drive()

    run = fresh(run)
    assert (ended(run, "turn/2") - ended(run, "turn/1/answer")).total_seconds() < 2
    rows = Annotation.objects.filter(run=run, dimension="lies").order_by("turn")
    found = [(row.unit, row.turn, row.value, row.answered) for row in rows]
    assert found == [("pair", turn, None, False) for turn in (1, 2)]
