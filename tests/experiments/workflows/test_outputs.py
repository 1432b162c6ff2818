"""Outputs: contestants are asked for what they make of the samples, and nothing of one spoils another's."""

import pytest
from pydantic import ValidationError

from experiments.workflows import outputs
from experiments.workflows.base.records import Record
from experiments.workflows.base.replay import Replay
from experiments.workflows.base.steps import Ask, Cast, Outcome, Seat, Stored

BAD_KEY = Outcome(ok=False, error_kind="bad_key", error="The key is not accepted.")


def task(sample, number=1):
    return {"sample": sample, "contestant": 10 + number, "seat": f"contestant-{number}"}


def config(**changes):
    return outputs.Config.model_validate({"dataset": "poems", "tasks": [task(1)]} | changes)


def played(answers, *seats, **changes):
    """What was asked, what was recorded, and the end."""
    seated = Cast({seat: Seat(seat, called=(f"lab/{seat}",)) for seat in seats or ("contestant-1",)})
    replay = Replay(outputs.run(config(**changes), seated), {})
    todo, asked, facts = replay.start(), [], []
    waiting, end = list(todo.steps), todo.end
    while waiting:
        step = waiting.pop(0)
        if isinstance(step, Record):
            facts.append(step.data)
        elif isinstance(step, Ask):
            asked.append(step)
            todo = replay.resolve(step.key, answers(step))
            waiting += todo.steps
            end = end or todo.end
    return asked, facts, end


def test_contestants_are_told_the_instruction_alone_what_is_no_output_is_recorded_and_who_only_fails_given_up():
    for answer, reason in ((BAD_KEY, BAD_KEY.error), (Outcome(text=" \n"), "The answer was empty.")):
        _asked, [fact], _end = played(lambda ask, answer=answer: answer)
        assert fact == {"sample": 1, "contestant": 11, "failed": reason}, answer
    asked, [fact], _end = played(lambda ask: answer, tasks=[task(1, number=3)])
    assert (asked, fact["failed"]) == ([], "Nobody sits in contestant-3.")

    def answer(ask):
        return BAD_KEY if ask.seat == "contestant-2" else Outcome(text="A poem.")

    tasks = [task(sample, number) for sample in range(1, 101) for number in (1, 2)]
    asked, facts, end = played(answer, "contestant-1", "contestant-2", tasks=tasks)

    assert (asked[0].messages[0].parts, asked[0].params) == ((Stored("instruction", 1), Stored("images", 1)), {})
    assert sum("key" in fact for fact in facts) == 100
    assert {"sample": 1, "contestant": 11, "key": "output/11/1"} in facts
    assert 20 <= sum("failed" in fact for fact in facts) < 40
    assert (end.failed, end.reason, "lab/contestant-2" in end.message) == (True, "contestant_failed", True)
    assert len(asked) == len(facts)


def test_the_seats_are_those_that_were_named():
    assert config().seats() == ("contestant-1",)
    assert config().seats(["contestant-30", "contestant-2"]) == ("contestant-2", "contestant-30")
    for seat in ("contestant-0", "contestant-31", "judge", "contestant-1x"):
        with pytest.raises(ValidationError):
            config(tasks=[{"sample": 1, "contestant": 1, "seat": seat}])
    with pytest.raises(ValidationError, match="named twice"):
        config(subsets=["one", "one"])
