"""A check that cannot fail is worth nothing: each is shown a record in which what it looks for is wrong."""

from dataclasses import replace
from decimal import Decimal

from benchmarks.faults.checks import CHECKS, differences
from benchmarks.faults.facts import Account, Called, Facts, Passed, Played, Seen, Served, Shown, Stepped

TEXT = "Seven panels, shared by need."
PAID = {"cost": Decimal("0.25"), "cost_source": "provider", "reserved": Decimal(1)}
CALL = Called("call-1", "turn/1/A", 1, "completed", text=TEXT, output_tokens=6, **PAID)
RUN = Played(
    id="run-1",
    workflow="arena",
    state="completed",
    last_seq=2,
    events={1: "aa", 2: "bb"},
    steps=[Stepped("turn/1/A", "ask", "done")],
    calls=[CALL],
    messages={"message-1": TEXT},
    told={"message-1": TEXT},
    page={"turn-1": "1"},
    replay={"turn-1": "1"},
    said={"turn/1/A/prompt": "Go on."},
)
SERVED = Served("call-1", "finished", 6)
PASSED = Passed("call-1", whole=True, texts=[(100.0, "Seven panels, "), (101.0, "shared by need.")])
SCREEN = Seen("run-1", {1: "aa", 2: "bb"}, {"call-1": TEXT[:9]}, {"message-1": TEXT})
ACCOUNT = Account("person alice", Decimal(2), Decimal(0), Decimal("0.25"), Decimal(0), ["call-1"])
RIGHT = Facts(
    runs=[RUN],
    served=[SERVED],
    passed=[PASSED],
    screens=[SCREEN],
    accounts=[ACCOUNT],
    ladders=[Shown("field", "[1]", "[1]")],
    votes={7: "first"},
    extra={
        "said": [("run-1", "turn/1/A/prompt", "Go on.")],
        "votes": [(7, "first")],
        "files": [("export", '{"a": 1}\n{"b": 2}\n')],
        "doubled": [],
        "troubles": {"503": 4},
        "undriven": {"run-1": 12.0},
        "drains": [("worker-1", 3.0)],
    },
)
LOST = replace(CALL, id="call-0", state="lost", text="Seven", cost=None, cost_source="unknown")
CUT = Passed("call-0", left=110.0, texts=[(105.0, "Seven"), (109.5, " panels, shared")])


def run(**changes):
    return replace(RIGHT, runs=[replace(RUN, **changes)])


def called(*calls):
    return run(calls=calls)


def extra(**changes):
    return replace(RIGHT, extra={**RIGHT.extra, **changes})


WRONG = {
    "requests nobody recorded": replace(RIGHT, served=[SERVED, Served("call-9", "finished", 3)]),
    "requests made twice": replace(RIGHT, served=[SERVED, SERVED]),
    "answers nobody gave": replace(RIGHT, served=[]),
    "calls lost without their caller": replace(
        called(LOST, replace(CALL, attempt=2)),
        extra={**RIGHT.extra, "has_callers": True},
    ),
    "steps asked again": called(CALL, replace(CALL, id="call-2", attempt=2)),
    "attempts out of order": called(replace(CALL, attempt=2)),
    "tokens that differ": replace(RIGHT, served=[replace(SERVED, tokens=7)]),
    "costs taken for nothing": called(replace(CALL, cost=Decimal(0), cost_source="refused")),
    "calls left open": called(replace(CALL, state="sent")),
    "runs without an end": run(state="running"),
    "runs the engine failed": run(state="failed", reason="internal_error"),
    "leases of nobody": run(has_lease=True),
    "runs nobody drove": extra(undriven={"run-1": 61.0}),
    "parts slow to end": extra(drains=[("worker-1", 31.0)]),
    "events with gaps": run(events={2: "bb"}),
    "messages unlike their events": run(messages={"message-1": TEXT.replace("need", "greed")}),
    "messages unlike the provider's words": called(replace(CALL, text=TEXT.removesuffix(" need."))),
    "pages unlike their replay": run(page={"turn-1": "1", "turn-2": "2"}),
    "words of people lost": run(said={}),
    "screens unlike the record": replace(RIGHT, screens=[replace(SCREEN, events={1: "aa"})]),
    "screens with other words": replace(RIGHT, screens=[replace(SCREEN, texts={"call-1": "Eight"})]),
    "screens that missed an event": replace(RIGHT, screens=[replace(SCREEN, gaps=1)]),
    "words lost beyond the bound": replace(
        called(replace(LOST, text="Sev"), CALL),
        passed=[CUT, PASSED],
        served=[SERVED, Served("call-0", "client_closed", 4)],
    ),
    "accounts that do not add up": replace(RIGHT, accounts=[replace(ACCOUNT, spent=Decimal("0.5"))]),
    "budgets overdrawn": replace(RIGHT, accounts=[replace(ACCOUNT, limit=Decimal("0.2"))]),
    "money still set aside": replace(RIGHT, accounts=[replace(ACCOUNT, reserved=Decimal(1))]),
    "ladders unlike their record": replace(RIGHT, ladders=[Shown("field", "[1]", "[2]")]),
    "votes lost": replace(RIGHT, votes={}),
    "files cut or torn": extra(files=[("export", '{"a": 1}\n{"b"')]),
    "requests that failed": extra(troubles={"503": 4, "500": 1}),
    "double clicks that counted twice": extra(doubled=["a repetition began two runs"]),
}


def test_every_check_finds_what_is_wrong_and_says_nothing_of_what_is_right_or_waits_or_was_lost_within_the_bounds():
    assert set(WRONG) == set(CHECKS)
    assert differences(RIGHT) == differences(run(state="waiting", is_waiting_by_design=True)) == {}
    assert [name for name, facts in WRONG.items() if name not in differences(facts)] == []
    assert "steps asked again" not in differences(called(replace(LOST, attempt=1), replace(CALL, attempt=2)))
    bound, while_away = "words lost beyond the bound", [(104.0, 109.5)]  # the database was away
    assert bound not in differences(replace(called(LOST, CALL), passed=[CUT, PASSED])), "sent in the last second"
    assert bound not in differences(replace(WRONG[bound], away=while_away))
