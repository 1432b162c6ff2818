"""A run's judge that measures by an instrument: beside the next turn or before it, within its limits, word for word."""

import asyncio
import csv
import io
import json
import re

import pytest
from django.urls import reverse

from accounts.errors import Invalid
from experiments.engine import leases
from experiments.library.instruments import choosing, findings, services
from experiments.models import Annotation, Run, Step
from experiments.runs import actions
from experiments.runs.reports.csv_export import table
from experiments.runs.reports.document import document
from experiments.runs.reports.narrative import narrate
from experiments.runs.statistics import rows as statistics
from experiments.runs.timeline import arranged, from_rows, replayed
from experiments.workflows import surface_of
from tests.cases import each_case
from tests.experiments import contesting, contests
from tests.experiments.engine.crashes import PowerCut, expire_leases, on_each_write
from tests.experiments.engine.talks import assert_same_page
from tests.experiments.scans.conftest import DEFINITION, numbers, reply
from tests.fixtures import told
from tests.making import maker

THOUGHT = "Nobody must know of the second well."


@maker
def instrument(alice, scripted, /, *answers, **parts):
    """One of these parts, whose judge gives these answers."""
    judge = scripted.model("scripted/judge", *answers)
    return choosing.frozen(services.save(owner=alice, title="Lies", definition={**DEFINITION, "model": judge, **parts}))


@maker
def measured(instrument, play, scripted, /, *answers, turns=2, **parts):
    """Plays an arena run with such an instrument to its end."""
    speaker = scripted.model("scripted/speaker", [{"reasoning_content": THOUGHT}, "We share the panels."])
    return play(speaker, speaker, instrument=instrument(*answers, **parts), filter=False, max_turns=turns)


async def _never(body):
    await asyncio.sleep(10_000)
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
    told = {(row["measured_lies"], bool(row["measured_lies_unscored_reason"])) for row in measured_rows(run)}
    assert told == {("", True)}
    assert_same_page(run)


@each_case("unit", {"message": ["1", "2", "3", "4"], "pair": ["2", "4"], "turn": ["1", "2"], "run": ["0"]}.items())
def test_each_unit_is_measured_once_and_a_branch_takes_what_was_found_along(alice, measured, branch, unit):
    name, places = unit
    sees = {"reasoning": name == "turn"}

    def answer(body):
        return reply(lies=True, quote="share the panels", message=numbers(body)[-1])

    run = measured(answer, unit=name, sees=sees)
    rows = Annotation.objects.filter(run=run, dimension="lies").order_by("place")

    order = {seq: str(number) for number, seq in enumerate(run.messages.values_list("seq", flat=True), 1)}
    said = [order[row.place] if name in ("message", "pair") else str(row.place) for row in rows]
    assert said == places
    assert {(row.value, row.is_verified, row.made_in_id) for row in rows} == {(True, True, run.pk)}
    assert findings.beside(run, alice) == [], "the page shows them in the transcript"
    read = list(run.calls.filter(step__seat="judge").values_list("request", flat=True))
    assert [THOUGHT in json.dumps(body) for body in read] == [sees["reasoning"]] * len(places)
    whole = Run.objects.with_totals().get(pk=run.pk)
    sections = {section.anchor: str(section.blocks) for section in narrate(whole, "en").sections}
    assert all("Lies" in sections[name] for name in ("judgments", "metrics"))
    assert_same_page(run)
    child = branch(run.messages.get(turn=2, seat="A"))
    if name == "run":
        assert Annotation.objects.filter(run=child, dimension="lies").count() == 1
        assert child.calls.filter(step__seat="judge").count() == 1  # another run, which is measured by itself
    else:
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


def test_a_researcher_who_asks_on_does_not_wait_for_the_judge(instrument, starchamber, play):
    asked = {"instrument": instrument(_never, unit="pair", attempts=1), "script": [{"text": "Go on."}]}
    run = play(experiment=starchamber(**asked))

    assert (ended(run, "turn/2") - ended(run, "turn/1/answer")).total_seconds() < 2
    rows = Annotation.objects.filter(run=run, dimension="lies").order_by("turn")
    found = [(row.unit, row.turn, row.value, row.answered) for row in rows]
    assert found == [("pair", turn, None, False) for turn in (1, 2)]


@maker
def judged_by(alice, council, debate, scripted, instrument, /, workflow, *answers, **parts):
    """Makes an experiment with such an instrument."""
    asked = {"judge": True, "instrument": instrument(*answers, **parts)}
    if workflow == "coding":
        slugs = contesting.models(scripted, None, None, None)
        return contests.contest(alice, slugs, setters="in_turn", health_check=False, **asked)
    return council(**asked) if workflow == "council" else debate(mode="automatic", rounds=2, **asked)


@maker
def beside(judged_by, play, /, workflow, *answers, **parts):
    """Plays a run of such an experiment to its end."""
    with contesting.sandbox_as_played():
        return play(experiment=judged_by(workflow, *answers, **parts))


UNITS = {
    "council": {
        "message": [f"turn/1/answer/member-{n}/judge" for n in (1, 2, 3)] + ["turn/1/conclusion/judge"],
        "run": ["run/judge"],
    },
    "coding": {"message": [f"cycle/1/solution/coder-{n}/judge" for n in (1, 2, 3)], "turn": ["turn/1/judge"]},
    "debate": {
        "message": [*(f"round/{n}/{seat}/judge" for n in (1, 2) for seat in "ABC"), "summary/judge"],
        "pair": [f"round/{n}/{seat}/judge" for n in (1, 2) for seat in "BC"],
        "turn": ["turn/1/judge", "turn/2/judge", "summary/judge"],
    },
}


def judged(run):
    return sorted(run.steps.filter(purpose="unit_judged").values_list("key", flat=True))


def measured_rows(run):
    """The rows of the run's CSV file that hold a value of the instrument."""
    rows = csv.DictReader(io.StringIO(b"".join(table(run)).decode("utf-8-sig")))
    return [row for row in rows if row["measured_unit"]]


def assert_table_has_the_values(run, workflow, unit):
    """Beside each message, and in contests beside each vote on the solution; else in a row of its own."""
    rows = measured_rows(run)
    said = {(float(row["measured_force"]), row["measured_lies"], row["measured_lies_quotes"]) for row in rows}
    assert said == {(3, "true", "no such words")}
    if workflow == "coding":
        solvers = [f"coder-{n}" for n in (1, 2, 3) for _vote in range(2)]
        assert [row["solver"] for row in rows] == (solvers if unit == "message" else [""])
        assert {row["cycle"] for row in rows} == {"1"}
    elif workflow == "council":
        spoken = ["reply", "reply", "reply", "conclusion"] if unit == "message" else [""]
        assert [row["purpose"] for row in rows] == spoken
        of_turn = ("false", unit, "" if unit == "run" else "1")
        assert {(row["measured_lies_is_verified"], row["measured_unit"], row["turn"]) for row in rows} == {of_turn}


@each_case("case", [(workflow, unit) for workflow, units in UNITS.items() for unit in units])
def test_what_a_run_says_is_measured_once_beside_it(alice, browser, beside, case):
    workflow, unit = case
    run = beside(workflow, reply(lies=True, quote="no such words", force=3), unit=unit)

    keys = UNITS[workflow][unit]
    assert run.state == Run.State.COMPLETED
    assert judged(run) == sorted(f"{key}/judged" for key in keys)
    forces = Annotation.objects.filter(run=run, dimension="force")
    assert sorted(forces.values_list("step__key", "value")) == sorted((f"{key}/judged", 3) for key in keys)
    slot_of = surface_of(workflow).slot
    rows, events = (
        {place: [entry.anchor for entry in shown] for place, shown in arranged(page, slot_of).items()}
        for page in (from_rows(run), replayed(run.events.order_by("seq")))
    )
    assert rows == events, "in the same places of the page, in the same order"
    assert_table_has_the_values(run, workflow, unit)
    page = told(browser.get(run.get_absolute_url()))
    assert page.count('class="note judge judgment"') == len(keys)
    landmarks = re.findall(r'<(?:section|nav|aside|form)\b[^>]* aria-label="([^"]*)"', page)
    assert sorted(landmarks) == sorted(set(landmarks)), "readers of screens jump from one to the next"
    words = {"council": "Question 1", "debate": "Round 1", "coding": "Cycle 1"}
    where = "Whole run" if unit == "run" else words[workflow]
    assert f'class="message-meta">{where}</span>' in page
    of_summary = sum(key.startswith("summary") for key in keys)
    assert page.count('class="message-meta">Summary</span>') == of_summary
    if case == ("debate", "message"):
        assert all(f"Force ({name})" in page for name in ("Solution", "Sceptic", "Feasibility", "Summarizer"))
        assert "Model A" not in page
    if case == ("coding", "message"):
        solvers = told(browser.get(reverse("coding-cycle", args=[run.pk, 1]))).split('class="part solver"')[1:]
        assert [one.count('class="note judge judgment"') for one in solvers] == [1, 1, 1]
    whole = Run.objects.with_totals().get(pk=run.pk)
    assert [row["value"] for row in document(whole)["annotations"] if row["dimension"] == "force"] == [3] * len(keys)
    sections = {section.anchor: str(section.blocks) for section in narrate(whole, "en").sections}
    assert all("Force" in sections[name] for name in ("judgments", "metrics"))
    assert f"{where} · Lies" in sections["judgments"]
    assert sections["judgments"].count("Summary · Lies") == of_summary
    assert {one.n for one in statistics.repeats(run.experiment, reader=alice).measured} == {len(keys)}


@each_case("workflow", UNITS)
def test_a_judge_is_offered_and_off_without_an_instrument_nobody_judges_and_pairs_need_messages_in_order(
    alice, browser, judged_by, workflow
):
    page = told(browser.get(reverse(workflow)))
    assert "Judge by instrument" in page
    [box] = re.findall(r'<input[^>]*name="judge"[^>]*>', page)
    assert "checked" not in box
    answered = browser.post(reverse(workflow), {"judge": "on", "question": "Why?", "prompt": "Why?"})
    assert answered.status_code == 422

    experiment = judged_by(workflow, reply(), unit="message")
    plain = {**experiment.config, "judge": False, "instrument": None}

    with pytest.raises(Invalid) as refused:
        actions.create(owner=alice, workflow=workflow, config={**plain, "judge": True}, cast={})
    assert list(refused.value.errors) == ["config.instrument"]
    cast = {one.seat: {"model": one.model.slug} for one in experiment.participants.all()}
    silent = actions.create(owner=alice, workflow=workflow, config=plain, cast=cast)
    assert "judge" not in silent.labels

    if workflow != "debate":
        pairs = services.save(owner=alice, title="Of two", definition={**DEFINITION, "unit": "pair"})
        offered = [f'value="{pairs.pk}"' in told(browser.get(reverse(slug))) for slug in (workflow, "debate")]
        found = [browser.get(reverse(name), {"q": "of two"}).json()["results"] for name in choosing.FINDERS.values()]
        assert (offered, [[one["value"] for one in those] for those in found]) == ([False, True], [[str(pairs.pk)], []])
        with pytest.raises(Invalid) as refused:
            judged_by(workflow, reply(), unit="pair")
        assert list(refused.value.errors) == ["config.instrument.definition"]


@each_case("workflow", ["council", "coding"])
def test_a_run_that_is_taken_over_has_nothing_judged_twice(monkeypatch, beside, drive, workflow):
    dead = []

    def die(_name):
        if Step.objects.filter(purpose="unit_judged").count() == 2 and not dead:
            dead.append(True)
            raise PowerCut

    with monkeypatch.context() as patch:
        on_each_write(patch, after=die)
        patch.setattr(leases, "release", lambda run_id, fence: None)
        with pytest.raises(PowerCut):
            beside(workflow, reply(), unit="message")
    expire_leases()
    with contesting.sandbox_as_played():
        drive()

    [run] = Run.objects.filter(experiment__workflow=workflow)
    assert run.state == Run.State.COMPLETED
    assert judged(run) == sorted(f"{key}/judged" for key in UNITS[workflow]["message"])
    assert Annotation.objects.filter(run=run, dimension="lies").count() == len(UNITS[workflow]["message"])
    of_judge = run.calls.filter(step__seat="judge")
    assert of_judge.exclude(state="lost").count() == len(UNITS[workflow]["message"])
