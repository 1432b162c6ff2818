"""In which order a cycle goes on: nobody waits for anybody, and in whatever order answers arrive the same is asked."""

import hashlib
import json
import random

from experiments.workflows.base.records import Finding
from experiments.workflows.base.steps import Ask, Execute, Outcome
from experiments.workflows.coding.config import coder
from tests.experiments import cycles
from tests.experiments.contests import judgment
from tests.experiments.cycles import Play, but, cast, one_cycle, ran, well


def test_nobody_waits_for_a_solution_or_a_repair_of_somebody_else():
    play = one_cycle(stop_after=9)
    assert play.open() == [f"cycle/1/solution/{coder(number)}" for number in (1, 2, 3)]
    play.give("cycle/1/solution/coder-2")
    assert play.open() == [f"cycle/1/{what}" for what in ("solution/coder-1", "solution/coder-3", "execution/coder-2")]
    play.give("cycle/1/execution/coder-2")
    judges = {f"cycle/1/judge/coder-{judge}/of/coder-2" for judge in (1, 3)}
    assert set(play.open()) == {"cycle/1/solution/coder-1", "cycle/1/solution/coder-3"} | judges

    play.give("cycle/1/judge/coder-3/of/coder-2")
    assert "cycle/1/judge/coder-3/of/coder-2/vote" in play.keys, "a vote is recorded the moment it is there"
    play.give("cycle/1/solution/coder-1", lambda step: cycles.GARBAGE)
    play.give("cycle/1/judge/coder-1/of/coder-2", lambda step: cycles.GARBAGE)
    repairs = {"cycle/1/solution/coder-1/repair", "cycle/1/judge/coder-1/of/coder-2/repair"}
    assert set(play.open()) == {"cycle/1/solution/coder-3"} | repairs

    while len(play.waiting) > 1 or play.waiting[0].key != "cycle/1/judge/coder-2/of/coder-3":
        play.give([key for key in play.open() if key != "cycle/1/judge/coder-2/of/coder-3"][-1])
    assert "cycle/1/rated" not in play.keys
    play.give("cycle/1/judge/coder-2/of/coder-3")
    assert play.keys[-2:] == ["cycle/1/rated", "cycle/1/completed"], "with the last vote"


def test_everybody_judges_everybody_else_once_in_an_order_drawn_by_the_seed():
    for coders in (3, 10):
        judged = [(data["judge_seat"], data["subject"]) for data in one_cycle(coders=coders).found("solution_judged")]
        seats = [coder(number) for number in range(1, coders + 1)]
        assert sorted(judged) == sorted((judge, solver) for judge in seats for solver in seats if judge != solver)

    def order(seed, of=1):
        play = Play(cast(6, seed=seed), health_check=False, setters="in_turn")
        return tuple(step.seat for step in play.asked("judge") if step.key.endswith(f"/of/coder-{of}"))

    assert len({order(seed) for seed in range(4)}) > 2
    assert order(3) == order(3)
    assert len({order(3, of) for of in range(1, 7)}) == 6, "it is another one for each solution"


def rated(play):
    [data] = play.found("cycle_rated")
    return data


def test_votes_that_were_not_given_are_left_out_and_a_solution_with_fewer_than_the_quorum_is_not_rated():
    limited = {f"cycle/1/judge/coder-{number}/of/coder-2": cycles.LIMITED for number in (1, 3)}
    for quorum, is_rated in ((1, True), (2, False), (3, False)):
        play = one_cycle(but({**limited, "cycle/1/judge/coder-4/of/coder-2": judgment(4)}), coders=4, quorum=quorum)

        data, others = rated(play), dict.fromkeys(("coder-1", "coder-3", "coder-4"), 7)
        assert data["means"] == (others | {"coder-2": 4} if is_rated else others)
        assert data["overall"] == (6.25 if is_rated else 7)
        assert data["unrated"] == ({} if is_rated else {"coder-2": f"1 of at least {quorum} votes were given."})
        assert data["votes"]["coder-2"] == {"coder-4": 4}, "kept, whether it counts or not"
        missing = [vote for vote in play.found("solution_judged") if vote["scores"] is None]
        assert {(vote["judge_seat"], vote["unscored_reason"]) for vote in missing} == {
            *(("coder-1", cycles.LIMITED.error), ("coder-3", cycles.LIMITED.error))
        }


def test_who_gives_no_solution_is_neither_executed_nor_judged_and_one_that_was_mended_counts():
    for first, second, reason in (
        (cycles.OFFLINE, None, f"It gave no solution. {cycles.OFFLINE.error}"),
        (cycles.GARBAGE, cycles.GARBAGE, "Its solution could not be read: the answer holds no JSON object."),
        ({"solution_code": ""}, {"solution_code": None}, "solution_code is missing, is empty"),
    ):
        key = "cycle/1/solution/coder-2"
        play = one_cycle(but({key: first, f"{key}/repair": second or cycles.OFFLINE}))

        data = rated(play)
        assert reason in data["unrated"]["coder-2"]
        assert "cycle/1/execution/coder-2" not in play.keys
        assert not any(step.key.endswith("/of/coder-2") for step in play.asked("judge"))
        assert data["votes"]["coder-2"] == {}
        assert set(data["passed"]) == set(data["means"]) == {"coder-1", "coder-3"}
        assert any(step.seat == "coder-2" for step in play.asked("judge")), "it judges the others all the same"

    play = one_cycle(
        but(
            {
                "cycle/1/solution/coder-2": cycles.GARBAGE,
                "cycle/1/execution/coder-1": lambda step: ran(step, ["failed", "timeout", "error"]),
                "cycle/1/execution/coder-2": lambda step: ran(step, complaint="SyntaxError: no (line 1)"),
                "cycle/1/execution/coder-4": cycles.SANDBOX_FAILED,
            }
        ),
        coders=4,
    )
    assert rated(play)["unrated"] == {}
    assert rated(play)["passed"] == {"coder-1": 0.7, "coder-2": 0, "coder-3": 1}, "and of one not run there is none"
    assert "The sandbox could not run it" in play.told("cycle/1/judge/coder-1/of/coder-4")
    assert play.found("message_superseded") == [{"message": "cycle/1/solution/coder-2"}]
    assert play.step("cycle/1/solution/coder-2/repair").purpose == "solution"


def test_a_judgment_that_cannot_be_read_is_asked_for_once_more_and_one_that_names_its_judge_flagged():
    key = "cycle/1/judge/coder-1/of/coder-2"
    says = judgment(8, feedback="As acme/sage-7 I find it right.")
    replies = {key: judgment(11), "cycle/1/judge/coder-1/of/coder-3": says}
    play = one_cycle(but(replies), called={"coder-1": ("acme/sage-7",)})
    flagged = {vote["key"]: vote["flags"] for vote in play.found("solution_judged") if vote["flags"]}
    assert flagged == {"cycle/1/judge/coder-1/of/coder-3": ["names_itself"]}
    assert rated(play)["votes"]["coder-3"]["coder-1"] == 8, "a judge that names itself is flagged, and its vote counts"
    assert "correctness is 11, outside 0 to 10" in play.told(f"{key}/repair")
    assert play.step(f"{key}/vote").source == f"{key}/repair"
    assert rated(play)["votes"]["coder-2"]["coder-1"] == 7

    play = one_cycle(but({key: judgment(11), f"{key}/repair": judgment("8/10")}))
    [vote] = [vote for vote in play.found("solution_judged") if vote["key"] == key]
    assert (vote["scores"], vote["rationale"]) == (None, "")
    assert vote["unscored_reason"] == "Its judgment could not be read: correctness is not a number."
    assert "coder-1" not in rated(play)["votes"]["coder-2"]


def fickle(step) -> Outcome:
    """An answer that follows from the key alone: now and then it is garbage, late, or from a lost model."""
    drawn = hashlib.sha256(step.key.encode()).digest()[0]
    if isinstance(step, Execute):
        if step.purpose == "check":
            return well(step)
        return cycles.SANDBOX_FAILED if drawn > 240 else ran(step, ["failed"] * (drawn % 4))
    assert isinstance(step, Ask)
    if step.purpose == "health":
        return cycles.LIMITED if drawn > 200 else well(step)
    if step.purpose == "judge" and drawn < 60:
        return Outcome(text=json.dumps(judgment(drawn / 6)))
    failures = {range(60, 75): cycles.OFFLINE, range(75, 110): cycles.GARBAGE}
    failures |= {range(110, 112): cycles.BAD_KEY, range(112, 120): cycles.LIMITED}
    return next((outcome for numbers, outcome in failures.items() if drawn in numbers), None) or well(step)


def asked(*plays: Play) -> dict[str, str]:
    """Everything that the plays wanted, by key, with all that it consists of. What two of them want is the same."""
    found: dict[str, str] = {}
    for step in (step for play in plays for step in play.steps):
        told = _content(step)
        assert found.setdefault(step.key, told) == told, step.key
    return found


def _content(step) -> str:
    fields = {name: getattr(step, name) for name in step.__dataclass_fields__ if name != "inspect"}
    return json.dumps(fields, sort_keys=True, default=_plain)


def _plain(value):
    if isinstance(value, Finding):
        return value.data()
    return getattr(value, "content", None) or str(value)


def test_played_anew_from_any_moment_it_asks_exactly_what_is_missing():
    for setup in (
        {"coders": 4, "cycles": 4},
        {"coders": 5, "cycles": 2, "setters": "random", "quorum": 2, "health_check": False},
    ):
        config = dict(setup)
        seats = cast(config.pop("coders"))
        whole = Play(seats, fickle, **config)
        draw = random.Random(len(whole.steps))
        for stop_after in sorted(draw.sample(range(len(whole.answered)), 6)):
            before = Play(seats, fickle, order=draw, stop_after=stop_after, **config)
            after = Play(seats, fickle, order=draw, recorded=before.outcomes, **config)

            assert sorted(after.taken_up) == sorted(before.open()), f"killed after {stop_after} answers"
            assert asked(before, after) == asked(whole)
            assert not set(after.keys) & set(before.outcomes), "what is recorded is neither asked nor recorded again"
            assert after.end == whole.end
