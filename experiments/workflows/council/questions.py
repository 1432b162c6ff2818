"""The questions, one after the other: the three stages of each, and what may be done about it afterwards."""

from collections.abc import Callable, Generator, Sequence
from typing import Any

from experiments.workflows.base.flags import addresses_reviewers, other_language
from experiments.workflows.base.masking import names_itself
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import MessageSent, Record, TurnCompleted, TurnStarted
from experiments.workflows.base.steps import Ask, End, Listen, Outcome, Prompt
from experiments.workflows.council.conclusion import by_rank, conclude
from experiments.workflows.council.records import Titled
from experiments.workflows.council.reviews import deliberate, review_again
from experiments.workflows.council.talk import Exchange, Sitting, Talk, called

EMPTY = "empty_answer"
ROOM = 16_384  # tokens for an answer that was nothing but reasoning the first time
LATE = "late"

Playing = Generator[Any, Any, None]


def all_answer(sitting: Sitting) -> Playing:
    """Nobody waits for anybody; a failure is recorded and costs no other member anything."""
    yield sitting.stage("answers")
    yield [answer(sitting, seat) for seat in sitting.talk.members]


def answer(sitting: Sitting, seat: str, *, late: bool = False) -> Playing:
    """One member's answer. One that ran out of tokens before its first word is asked for again, with more of them."""
    outcome = yield _ask(sitting, seat, late=late)
    if outcome.error_kind == EMPTY:
        outcome = yield _ask(sitting, seat, late=late, room=ROOM)
    sitting.answers[seat] = outcome


def nobody_answered(sitting: Sitting) -> End:
    reasons = []
    for seat in sitting.talk.members:
        answer = sitting.answers[seat]
        unranked = "its answer was cut off at the token limit" if answer.text.strip() else "its answer is empty"
        reasons.append(f"{called(seat)}: {unranked if answer.ok else answer.error}")
    why = "; ".join(reasons)
    return End("nobody_answered", failed=True, message=f"No member gave an answer that could be ranked. {why}")


def _ask(sitting: Sitting, seat: str, *, late: bool, room: int = 0) -> Ask:
    """The prompt holds nothing but what people said, and what the council concluded before."""

    def inspected(text: str) -> Sequence[str]:
        return [
            *names_itself(text, sitting.talk.names(seat), sitting.question),
            *addresses_reviewers(text),
            *other_language(sitting.language, text),
            *([LATE] if late else []),
        ]

    key = sitting.keys[seat] = sitting.next_key(f"answer/{seat}")
    context = sitting.talk.config.system_prompt
    system = (Prompt("system", context),) if context.strip() else ()
    return Ask(
        key=key,
        seat=seat,
        turn=sitting.turn,
        messages=(*system, *sitting.talk.past, Prompt("user", sitting.question)),
        draw=f"{sitting.base}/answer/{seat}",
        room=room,
        inspect=inspected,
    )


TITLE = "council/title"
LONGEST = 80
PATIENCE = 10.0
QUOTES = "\"'“”‘’«»「」『』《》`*#_ "


def find_title(talk: Talk) -> Generator[Any, Any, None]:
    """Whatever goes wrong, the talk keeps the title that it has."""
    token = talk.cast.fence("title")
    prompt = fill(TITLE, token=token, question=fenced("question", talk.config.question, token))
    outcome: Outcome = yield Ask(
        key="title",
        seat="title",
        played_by="" if "title" in talk.cast.seats else "chair",
        purpose="title",
        messages=(Prompt("user", prompt),),
        params={"temperature": 0.3, "max_tokens": 1000},  # more than a title: some reason before they answer
        prompt_version=version(TITLE),
        patience=PATIENCE,
    )
    if outcome.ok and (title := _cleaned(outcome.text)):
        yield Record("title/found", Titled(title=title), source="title")


def _cleaned(text: str) -> str:
    """The first line that says something, on one line, without quotation marks; "" when there is none."""
    lines = (" ".join(line.split()).strip(QUOTES) for line in text.splitlines())
    title = next((line for line in lines if line), "")
    title = title.rstrip(".。").removeprefix("Title:").strip(QUOTES)
    return title if len(title) <= LONGEST else f"{title[: LONGEST - 1].rstrip()}…"


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
    if asked_next := sitting.talk.next_question(turn, sitting.concluded):
        return Outcome(text=asked_next, action="send")
    return (yield from _afterwards(sitting))


def _afterwards(sitting: Sitting) -> Generator[Any, Any, Outcome]:
    """Nothing waits for it, and it may come weeks later: the next question, or something of this one done again."""
    error = ""
    while True:
        said: Outcome = yield Listen(
            sitting.next_key("next"),
            "your_turn",
            _offered(sitting),
            seat="person",
            turn=sitting.turn,
            error=error,
            is_offer=True,
        )
        if said.action == "send":
            return said
        error = yield from AGAIN[said.action](sitting, said.text.strip())


def _offered(sitting: Sitting) -> tuple[str, ...]:
    can_be = {
        "send": sitting.turn != sitting.talk.config.max_turns,
        "retry_seat": bool(sitting.silent or sitting.held.abstained),
        "conclude": True,
        "deliberate": len(sitting.survivors) > 1,
    }
    return tuple(action for action, is_offered in can_be.items() if is_offered)


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
