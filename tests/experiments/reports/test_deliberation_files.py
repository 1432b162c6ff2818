"""Councils and debates as files for programs: ballots and what was read out of answers are in all of them."""

import copy
import csv
import io
import json
from typing import Any

import pytest
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser

from experiments import timeline
from experiments.models import Run, Step
from experiments.reports.csv_export import table
from experiments.reports.exports import json_lines
from experiments.reports.html import render_html
from experiments.reports.importing import import_document
from experiments.reports.inspect_log import inspect_log, log_name
from experiments.reports.json_values import InvalidDocument
from tests.cases import each_case
from tests.experiments.reports.deliberations import LABELS, council, counted, debate
from tests.experiments.reports.html_pages import section

pytestmark = [pytest.mark.django_db, pytest.mark.databases]

OWN = {"id", "call", "experiment", "run", "parent", "branched_from", "message", "judgments", "ballot", "source"}
SHOWN = ("message_completed", "message_parsed", "ballot_read")
SHAPES = pytest.mark.parametrize("make", [council, debate])


@pytest.fixture
def crafted(alice: Any, exported: Any) -> Any:
    """The document of a crafted run."""
    return lambda make: exported(make(alice).run)


def without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_ids(item) for name, item in value.items() if name not in OWN}
    return [without_ids(item) for item in value] if isinstance(value, list) else value


def assert_equal(before: Any, after: Any) -> None:
    for name in ("messages", "judgments", "ballots", "metrics", "interventions", "calls", "steps"):
        assert without_ids(after[name]) == without_ids(before[name]), name
    changing = OWN | {"origin", "last_seq", "offer"}
    was, is_ = ({k: v for k, v in side["run"].items() if k not in changing} for side in (before, after))
    assert is_ == was
    assert without_ids(after["experiment"]) == without_ids(before["experiment"])


@SHAPES
def test_the_document_holds_ballots_and_what_was_read(crafted: Any, make: Any) -> None:
    document = crafted(make)

    if make is council:
        assert [one["reviewer"] for one in document["ballots"]] == ["member-1", "member-2", "member-3"]
        left = [step for step in document["steps"] if step["ballot"]]
        assert [step["ballot"] for step in left] == [one["id"] for one in document["ballots"]]
        assert left[0]["source"] == document["ballots"][0]["call"]
        assert document["run"]["offer"]["key"] == "turn/1/next"
    else:
        parsed = [one["parsed"]["kind"] for one in document["messages"]]
        assert parsed == ["request", "brief", "final_prompt", "points", "points", "unread", "actions"]
        assert [deed["kind"] for deed in document["interventions"]] == ["edited"]


@SHAPES
def test_an_imported_run_says_the_same(alice: Any, crafted: Any, exported: Any, make: Any) -> None:
    before = crafted(make)

    run = import_document(before, by=alice)

    assert_equal(before, exported(run))
    assert run.ballots.count() == len(before["ballots"])
    rows, events = timeline.from_rows(run), timeline.replayed(run.events.all())
    assert {e.anchor: e.data for e in rows} == {e.anchor: e.data for e in events}


def test_what_was_asked_again_is_an_intervention_with_its_seat(alice: Any, exported: Any) -> None:
    record = council(alice, overrides={"limits": {"tokens": 5000}})
    record.offer("turn/1/next/2", 1, "your_turn", "retry_seat", action="retry_seat", text="member-2", by="alice")

    [deed] = exported(record.run)["interventions"]

    assert (deed["kind"], deed["seat"], deed["turn"], deed["by"]) == ("retry_seat", "member-2", 1, "alice")
    setup = section(render_html(record.fetched(), "en"), "setup")
    assert "Changed while it was played limits: none → 5,000 tokens" in setup


def test_answers_given_side_by_side_keep_the_order_in_which_they_came(alice: Any, exported: Any) -> None:
    run = council(alice).run
    answers = list(run.messages.filter(step__purpose="reply"))
    for seq, message in zip((5000, 4000, 3000), answers, strict=True):
        run.messages.filter(pk=message.pk).update(seq=seq)
    before = exported(run)

    again = import_document(before, by=alice)

    assert_equal(before, exported(again))
    numbers = set(again.events.filter(type__in=SHOWN).values_list("seq", flat=True))
    assert set(again.messages.values_list("seq", flat=True)) <= numbers


def test_an_imported_run_offers_nothing(alice: Any, crafted: Any, exported: Any) -> None:
    run = import_document(crafted(council), by=alice)

    assert exported(run)["run"]["offer"] is None
    assert run.steps.get(key="turn/1/next").state == Step.State.OPEN
    assert "offer_opened" not in [shown.type for shown in timeline.from_rows(run)]


def test_a_document_without_steps_keeps_its_ballots(alice: Any, crafted: Any) -> None:
    before = crafted(council)
    del before["steps"]

    run = import_document(before, by=alice)

    assert run.ballots.count() == 3
    assert set(run.ballots.values_list("step__purpose", flat=True)) == {"ballot_read"}
    assert run.messages.get(seat="person").step.purpose == "message_sent"
    assert set(run.messages.exclude(seat="person").values_list("step__purpose", flat=True)) == {
        *("reply", "review", "conclusion")
    }


def broken(document: Any, *path: Any, value: Any) -> Any:
    document = copy.deepcopy(document)
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return document


@each_case(
    ("path", "value", "said"),
    [
        (("ballots", 0, "order"), [["member-1"]], "not shown"),
        (("ballots", 0, "order"), [["member-2"], ["member-2"]], "one twice"),
        (("ballots", 0, "order"), [[]], "at least 1"),
        (("ballots", 0, "labels"), {"Response A": 5}, "string"),
        (("ballots", 0, "call"), "01a1fd93-cef6-75d2-b9a8-cd401838a2b6", "no such call"),
        (("ballots", 0, "count"), 0, "greater"),
        (("messages", 1, "parsed"), "points", "valid dictionary"),
        (("messages", 1, "parsed"), {"kind": "points", "new_perspectives": [{"id": "p1"}]}, "required"),
        (("messages", 1, "parsed"), {"kind": "actions", "recommended": "all"}, "list"),
        (("messages", 1, "parsed"), {"no": "kind"}, "required"),
    ],
    ids=str,
)
def test_what_could_not_be_drawn_is_refused_with_its_place(
    alice: Any, crafted: Any, path: Any, value: Any, said: str
) -> None:
    with pytest.raises(InvalidDocument) as refused:
        import_document(broken(crafted(council), *path, value=value), by=alice)

    [place] = {place.split(".")[0].split("[")[0] for place in refused.value.errors}
    assert place == path[0]
    assert said in str(refused.value)
    assert not Run.objects.filter(origin="imported").exists()


@each_case(
    "fields",
    [
        {"seats": "all"},
        {"ballots": [{"reviewer": "member-1", "order": [["member-9"]], "offered": ["member-9"]}]},
        {"ballots": [{"reviewer": "member-1", "order": [["member-2"]], "offered": ["member-3"]}]},
        {"best": ["member-9"]},
    ],
    ids=str,
)
def test_a_count_that_cannot_be_counted_is_refused(alice: Any, crafted: Any, fields: Any) -> None:
    document = crafted(council)
    [step] = [step for step in document["steps"] if step["purpose"] == "ballots_counted"]
    step["data"] = counted(**fields)

    with pytest.raises(InvalidDocument, match=r"steps\[\d+\]"):
        import_document(document, by=alice)


def test_every_ballot_comes_from_one_step(alice: Any, crafted: Any) -> None:
    document = crafted(council)
    first, second, _third = (step for step in document["steps"] if step["ballot"])
    second["ballot"] = first["ballot"]

    with pytest.raises(InvalidDocument):
        import_document(document, by=alice)


@SHAPES
def test_lines_hold_ballots_and_what_was_read(alice: Any, make: Any) -> None:
    record = make(alice)

    lines = [json.loads(line) for line in b"".join(json_lines(record.fetched())).splitlines()]

    ballots = [line for line in lines if line["kind"] == "ballot"]
    assert [line["id"] for line in ballots] == [str(pk) for pk in record.run.ballots.values_list("pk", flat=True)]
    said = [line for line in lines if line["kind"] == "message"]
    assert [line["parsed"] for line in said] == list(record.run.messages.values_list("parsed", flat=True))
    assert all(line["purpose"] for line in said)


def test_the_table_has_each_ballot_beside_its_review(alice: Any) -> None:
    text = b"".join(table(council(alice).fetched())).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))

    reviews = {row["seat"]: row for row in rows if row["purpose"] == "review"}
    assert reviews["member-1"]["ballot_order"] == "member-3 > member-2"
    assert reviews["member-2"]["ballot_order"] == "member-1 = member-3"
    assert reviews["member-2"]["ballot_flags"] == "ties"
    assert reviews["member-1"]["ballot_labels"] == "Response A = member-2; Response B = member-3"
    assert reviews["member-3"]["id"] == ""
    assert reviews["member-3"]["ballot_order"] == ""
    assert "could not be read" in reviews["member-3"]["ballot_abstained_reason"]
    assert {row["ballot_order"] for row in rows if row["purpose"] == "reply"} == {""}


def test_the_table_has_what_was_read_as_json(alice: Any) -> None:
    text = b"".join(table(debate(alice).fetched())).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))

    read = {row["seat"]: json.loads(row["parsed"]) for row in rows if row["parsed"]}
    assert read["B"]["counterpoints"] == [{"id": "c1", "contents": "A1.p1 ignores the weather."}]
    assert len(rows) == 7


@SHAPES
def test_inspect_reads_the_log(alice: Any, tmp_path: Any, make: Any) -> None:
    record = make(alice)
    path = tmp_path / log_name(record.run)
    path.write_bytes(inspect_log(record.fetched()))

    log = read_eval_log(str(path))
    write_eval_log(log, str(tmp_path / "again.json"))

    [sample] = log.samples or []
    assert read_eval_log(str(tmp_path / "again.json")).samples == log.samples
    assert (log.status, log.eval.task) == ("success", f"arena_lab/{make.__name__}")
    kinds = {message.metadata["seat"]: type(message) for message in sample.messages}
    assert kinds.pop("person") is ChatMessageUser
    assert set(kinds.values()) == {ChatMessageAssistant}
    assert sample.output.completion == {council: "Because of scattering.", debate: "{}"}[make]
    assert len(sample.metadata["ballots"]) == record.run.ballots.count()


def test_inspect_is_told_the_ranking(alice: Any, tmp_path: Any) -> None:
    record = council(alice)
    path = tmp_path / log_name(record.run)
    path.write_bytes(inspect_log(record.fetched()))

    [sample] = read_eval_log(str(path)).samples or []

    score = (sample.scores or {})["ranking turn 1"]
    assert score.value == {"member-1": 0.5, "member-2": 0.0, "member-3": 0.75}
    assert score.explanation == "member-3 > member-1 > member-2"
    assert sample.metadata["rankings"][0]["abstained"][0][0] == "member-3"
    assert sample.metadata["ballots"][0]["labels"] == LABELS["member-1"]
