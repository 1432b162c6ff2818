"""The first stage: every member answers, alone and side by side with the others."""

from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

from experiments.workflows.base.flags import addresses_reviewers, other_language
from experiments.workflows.base.masking import names_itself
from experiments.workflows.base.steps import Ask, End, Outcome, Prompt
from experiments.workflows.council.talk import Sitting, called

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
    why = "; ".join(f"{called(seat)}: {_reason(sitting.answers[seat])}" for seat in sitting.talk.members)
    return End("nobody_answered", failed=True, message=f"No member gave an answer that could be ranked. {why}")


def _ask(sitting: Sitting, seat: str, *, late: bool, room: int = 0) -> Ask:
    key = sitting.next_key(f"answer/{seat}")
    sitting.keys[seat] = key
    return Ask(
        key=key,
        seat=seat,
        turn=sitting.turn,
        messages=_messages(sitting),
        draw=f"{sitting.base}/answer/{seat}",
        room=room,
        inspect=partial(_inspected, sitting, seat, late),
    )


def _messages(sitting: Sitting) -> tuple[Prompt, ...]:
    """Nothing but what people said, and what the council concluded before."""
    told = sitting.talk.config.system_prompt
    system = (Prompt("system", told),) if told.strip() else ()
    return (*system, *sitting.talk.past, Prompt("user", sitting.question))


def _inspected(sitting: Sitting, seat: str, late: bool, text: str) -> Sequence[str]:
    return [
        *names_itself(text, sitting.talk.names(seat), sitting.question),
        *addresses_reviewers(text),
        *other_language(sitting.language, text),
        *([LATE] if late else []),
    ]


def _reason(answer: Outcome) -> str:
    if not answer.ok:
        return answer.error
    return "its answer was cut off at the token limit" if answer.text.strip() else "its answer is empty"
