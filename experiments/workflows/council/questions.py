"""The questions, one after the other: the three stages of each, and what may be done about it afterwards."""

from collections.abc import Callable, Generator
from typing import Any

from experiments.workflows.base.records import MessageSent, Record, TurnCompleted, TurnStarted
from experiments.workflows.base.steps import End, Listen, Outcome
from experiments.workflows.council.answers import all_answer, answer, nobody_answered
from experiments.workflows.council.conclusion import by_rank, conclude
from experiments.workflows.council.reviews import deliberate, review_again
from experiments.workflows.council.talk import Exchange, Sitting, Talk

Error = str  # why what was asked for could not be done, "" when it was


def questions(talk: Talk) -> Generator[Any, Any, End]:
    turn, question = 1, talk.config.question
    while True:
        sitting = Sitting(talk, turn, question)
        said = yield from _question(sitting)
        if isinstance(said, End):
            return said
        talk.exchanges.append(Exchange(question, sitting.concluded))
        turn, question = turn + 1, said.text


def _question(sitting: Sitting) -> Generator[Any, Any, Outcome | End]:
    """From a question to whatever is said after it has been answered."""
    turn = sitting.turn
    yield Record(sitting.base, TurnStarted(turn=turn), turn=turn)
    asked = MessageSent(seat="person", text=sitting.question, parsed={"kind": "question"})
    yield Record(f"{sitting.base}/question", asked, turn=turn)
    yield from all_answer(sitting)
    if not sitting.survivors:
        return nobody_answered(sitting)
    yield from deliberate(sitting)
    failed = yield from conclude(sitting)
    if failed and (end := (yield from by_rank(sitting, failed))):
        return end
    yield Record(f"{sitting.base}/completed", TurnCompleted(turn=turn), turn=turn)
    return (yield from _afterwards(sitting))


def _afterwards(sitting: Sitting) -> Generator[Any, Any, Outcome]:
    """Nothing waits for it, and it may come weeks later: the next question, or something of this one done again."""
    error = ""
    while True:
        said: Outcome = yield Listen(
            sitting.next_key("next"),
            "your_turn",
            tuple(_offered(sitting)),
            seat="person",
            turn=sitting.turn,
            error=error,
            is_offer=True,
        )
        if said.action == "send":
            return said
        error = yield from AGAIN[said.action](sitting, said.text.strip())


def _offered(sitting: Sitting) -> Generator[str, None, None]:
    if sitting.turn != sitting.talk.config.max_turns:
        yield "send"
    if sitting.silent or sitting.held.abstained:
        yield "retry_seat"
    yield "conclude"
    if len(sitting.survivors) > 1:
        yield "deliberate"


def _retry(sitting: Sitting, seat: str) -> Generator[Any, Any, Error]:
    """A member that gave no answer, or no ranking, is asked once more. An answer that comes late is shown; it is ranked
    when the answers are ranked again.
    """
    if seat in sitting.silent:
        yield sitting.stage("answers")
        yield from answer(sitting, seat, late=True)
        return "" if sitting.has_answered(seat) else sitting.answers[seat].error
    if seat in sitting.held.abstained:
        yield sitting.stage("reviews")
        yield from review_again(sitting, seat)
        return sitting.held.abstained.get(seat, "")
    return "This member has answered and ranked: there is nothing to ask it again."


def _conclude(sitting: Sitting, _text: str = "") -> Generator[Any, Any, Error]:
    """Once more; an earlier conclusion stands until there is another one."""
    failed = yield from conclude(sitting)
    if failed is None:
        return ""
    if not sitting.conclusion and sitting.held.best:
        yield from by_rank(sitting, failed)
    return failed.outcome.error


def _deliberate(sitting: Sitting, _text: str) -> Generator[Any, Any, Error]:
    """Every answer that there is now is ranked, and a conclusion drawn from that."""
    yield from deliberate(sitting)
    return (yield from _conclude(sitting))


AGAIN: dict[str, Callable[[Sitting, str], Generator[Any, Any, Error]]] = {
    "retry_seat": _retry,
    "conclude": _conclude,
    "deliberate": _deliberate,
}
