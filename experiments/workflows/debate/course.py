"""The course of a debate: a request is refined, the debaters speak in rounds, and a summary says what to do."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from experiments.workflows.base.records import (
    MessageSent,
    MessageSuperseded,
    Record,
    StageStarted,
    TurnCompleted,
    TurnStarted,
)
from experiments.workflows.base.steps import STOPPED, End, Listen, Outcome, numbered
from experiments.workflows.debate.answers import (
    Actions,
    Brief,
    Part,
    Points,
    brief_text,
    read_actions,
    read_brief,
    read_points,
    words_in,
)
from experiments.workflows.debate.asking import (
    REFINE,
    ROUND,
    SUMMARY,
    Answer,
    Question,
    answered,
    to_refine,
    to_speak,
    to_sum_up,
)
from experiments.workflows.debate.config import DEBATERS, LAST_ROUND
from experiments.workflows.debate.talk import Speech, Talk, order

TOO_LONG = "context_exceeded"
POINTS_ASKED = {1: 3, 2: 2}  # new perspectives at least, by round
COUNTERPOINTS_ASKED = {1: 2, 2: 1}
HINT = "%s: what was said before is too long for the model. Ask again with a shortened context. (%s)"
UNREAD = "The refinement could not be read: %s."


def refined(talk: Talk) -> Generator[Any, Any, Talk | End]:
    """The talk with its task, which does not change any more."""
    request = talk.config.prompt
    yield Record("request", MessageSent(seat="person", text=request, parsed={"kind": "request"}), turn=0)
    attempt, answer = 0, None
    while True:
        attempt += 1
        if talk.config.refine:
            answer = yield from _refine(talk, attempt, answer)
        pause = _pause(talk, attempt, answer)
        said: Outcome = yield pause
        if said.action == "end":
            return STOPPED
        if said.passed and answer and answer.has_failed:
            return End("refine_failed", failed=True, message=answer.error)
        if said.action != "retry":
            break
    final = said.text
    if said.passed and answer:  # nobody was asked: without the questions, which nobody answers
        parsed = {**answer.reading.parsed, "clarifying_questions": ()} if answer.reading else None
        final = brief_text(parsed, words_in(talk.language)) if parsed else request
    yield Record("prompt/final", MessageSent(seat="person", text=final, parsed={"kind": "final_prompt"}), turn=0)
    is_own = not said.passed and said.text != pause.default
    return talk.debated(final, is_own=is_own or pause.default == request)


def _refine(talk: Talk, attempt: int, earlier: Answer | None) -> Generator[Any, Any, Answer]:
    if earlier is None:
        yield Record("stage/refine", StageStarted(turn=0, stage="refine", number=1, of=1), turn=0)
    elif not earlier.has_failed:
        yield Record(f"{earlier.key}/superseded", MessageSuperseded(message=earlier.key), turn=0)
    key = numbered("refine", attempt)
    question = Question(
        key=key,
        seat="refiner",
        turn=0,
        purpose="refinement",
        role="refiner",
        messages=to_refine(talk, key),
        form=Brief.schema_to_follow(),
        prompts=REFINE,
        read=partial(read_brief, words=words_in(talk.language)),
        language=talk.language,
        temperature=0.3,
        draw="refine" if earlier is None or earlier.has_failed else key,
    )
    return (yield from answered(talk.cast, question))


def _pause(talk: Talk, attempt: int, answer: Answer | None) -> Listen:
    """The final prompt as it is prefilled: what the refiner made of the request, or the request as it stands."""
    reading = answer.reading if answer else None
    words = words_in(talk.language)
    default = brief_text(reading.parsed, words, is_to_answer=True) if reading else talk.config.prompt
    error = answer.error if answer else ""
    if answer and not error and answer.unread_reason:
        error = UNREAD % answer.unread_reason
    return Listen(
        numbered("prompt", attempt),
        "final_prompt",
        ("send", "default", *(["retry"] if answer else []), "end"),
        default=default,
        turn=0,
        may_pass=True,
        error=error,
    )


@dataclass(frozen=True, slots=True)
class Again:
    """How a debater is asked: at which attempt, and whether with a shortened context. earlier: what became of the
    attempt before.
    """

    attempt: int = 1
    is_short: bool = False
    earlier: Speech | None = None


def played(talk: Talk, number: int) -> Generator[Any, Any, Talk | End]:
    """The talk after a round. It ends when nobody gave an answer."""
    yield Record(f"round/{number}", TurnStarted(turn=number), turn=number)
    seats = order(talk.config, number)
    for place, seat in enumerate(seats, 1):
        stage = StageStarted(turn=number, stage=seat, number=place, of=len(seats))
        yield Record(f"round/{number}/stage/{seat}", stage, turn=number)
        talk = yield from _spoken(talk, number, seat, Again())
    if all(speech.has_failed for speech in talk.of_round(number)):
        return End("round_failed", failed=True, message=_failures(talk, number))
    yield Record(f"round/{number}/completed", TurnCompleted(turn=number), turn=number)
    return talk


def gone_on(talk: Talk, number: int) -> Generator[Any, Any, tuple[Talk, str] | End]:
    """The talk, and whether another `round` follows or `summarize`; whoever failed may be asked again before."""
    attempts: dict[str, int] = dict.fromkeys(DEBATERS, 1)
    trouble, pauses = _failures(talk, number), 0
    while True:
        pauses += 1
        place, text = talk.to_say(number)
        said: Outcome = yield _round_pause(talk, number, pauses, trouble, text)
        if said.action == "end":
            return STOPPED
        if said.action not in ("retry_seat", "retry_short"):
            break
        seat = said.text.strip()
        earlier = next((speech for speech in _to_retry(talk, number) if speech.seat == seat), None)
        if earlier is None:
            trouble = f"There is nobody called {seat!r} who could be asked again."
            continue
        attempts[seat] += 1
        again = Again(attempts[seat], said.action == "retry_short", earlier)
        talk = yield from _spoken(talk, number, seat, again)
        trouble = _failures(talk, number)
    step = said.action if said.action in ("round", "summarize") else _as_configured(talk, number)
    return (yield from added(replace(talk, place=place), said.text, number)), step


def added(talk: Talk, text: str, number: int) -> Generator[Any, Any, Talk]:
    """With what a person adds after a round; nothing, when it is blank."""
    addendum = text.strip()
    if not addendum:
        return talk
    said = MessageSent(seat="person", text=addendum, parsed={"kind": "addendum"})
    name = "addendum" if number < LAST_ROUND else "summary/addendum"
    yield Record(numbered(name, len(talk.addenda) + 1), said, turn=number + 1)
    return talk.added(addendum)


def _round_pause(talk: Talk, number: int, pauses: int, trouble: str, text: str) -> Listen:
    """`default` goes on as it was set up, with `text`; in automatic mode that is what happens."""
    actions = ["round"] if number < LAST_ROUND else []
    retried = _to_retry(talk, number)
    actions += ["summarize", *(["retry_seat"] if retried else [])]
    actions += ["retry_short"] if any(speech.error_kind == TOO_LONG for speech in retried) else []
    return Listen(
        numbered(f"round/{number}/next", pauses),
        "after_round",
        (*actions, "default", "end"),
        default=text,
        turn=number,
        may_pass=True,
        error=trouble,
    )


def _as_configured(talk: Talk, number: int) -> str:
    """Where a limit has kept somebody from speaking, what there is is summed up."""
    was_limited = any(speech.error_kind == "limit" for speech in talk.speeches)
    return "round" if number < talk.config.rounds and not was_limited else "summarize"


def _to_retry(talk: Talk, number: int) -> list[Speech]:
    return [speech for speech in talk.of_round(number) if speech.points is None]


def _failures(talk: Talk, number: int) -> str:
    failed = [speech for speech in talk.of_round(number) if speech.has_failed]
    hints = [HINT if speech.error_kind == TOO_LONG else "%s: %s" for speech in failed]
    return "\n".join(hint % (speech.seat, speech.error) for hint, speech in zip(hints, failed, strict=True))


def _spoken(talk: Talk, number: int, seat: str, again: Again) -> Generator[Any, Any, Talk]:
    if again.earlier and not again.earlier.has_failed:
        earlier = again.earlier.key
        yield Record(f"{earlier}/superseded", MessageSuperseded(message=earlier), turn=number)
    answer = yield from answered(talk.cast, _question(talk, number, seat, again))
    return talk.and_then(
        Speech(
            seat,
            number,
            answer.key,
            points=answer.reading.parsed if answer.reading else None,
            raw="" if answer.reading else answer.raw,
            error_kind=answer.error_kind,
            error=answer.error,
        )
    )


def _question(talk: Talk, number: int, seat: str, again: Again) -> Question:
    first = f"round/{number}/{seat}"
    key = numbered(first, again.attempt)
    others = [speech for speech in talk.heard_by(seat, number) if speech.seat != seat]
    part = Part(seat, number, POINTS_ASKED[number], COUNTERPOINTS_ASKED[number] if others else 0)
    return Question(
        key=key,
        seat=seat,
        turn=number,
        purpose="reply",
        role="debater",
        messages=to_speak(talk, part, key, is_short=again.is_short),
        form=Points.schema_to_follow(),
        prompts=ROUND,
        read=partial(read_points, part=part, words=words_in(talk.language)),
        language=talk.language,
        draw=key if again.earlier and not again.earlier.has_failed else first,
        flags=("out_of_order",) if _is_late(talk, number, seat, again) else (),
    )


def _is_late(talk: Talk, number: int, seat: str, again: Again) -> bool:
    """Whether somebody has spoken meanwhile who should have spoken afterwards."""
    seats = order(talk.config, number)
    after = seats[seats.index(seat) + 1 :]
    spoke = {speech.seat for speech in talk.of_round(number) if not speech.has_failed}
    return again.attempt > 1 and any(later in spoke for later in after)


def summed_up(talk: Talk, asked: int) -> Generator[Any, Any, tuple[Talk, str, int] | End]:
    """The talk, what follows the summary (`round` or `summarize`), and how often a summary has been asked for; asked:
    how often it had been before.
    """
    number = max(speech.round for speech in talk.speeches)
    turn, count = number + 1, asked + 1
    stage = StageStarted(turn=turn, stage="summary", number=1, of=1)
    yield Record(numbered("stage/summary", count), stage, turn=turn)
    answer = yield from answered(talk.cast, _summary_question(talk, turn, count))
    if answer.error_kind == TOO_LONG:
        count += 1
        answer = yield from answered(talk.cast, _summary_question(talk, turn, count, is_short=True))
    if answer.has_failed:
        return End("summary_failed", failed=True, message=answer.error)
    actions = ("summarize", *(["round"] if number < LAST_ROUND else []))
    said: Outcome = yield Listen(numbered("summary/next", count), "concluded", actions, turn=turn, is_offer=True)
    yield Record(f"{answer.key}/superseded", MessageSuperseded(message=answer.key), turn=turn)
    talk = yield from added(talk, said.text, number)
    return talk, said.action, count


def _summary_question(talk: Talk, turn: int, count: int, *, is_short: bool = False) -> Question:
    key = numbered("summary", count)
    return Question(
        key=key,
        seat="summarizer",
        turn=turn,
        purpose="summary",
        role="summarizer",
        messages=to_sum_up(talk, key, is_short=is_short),
        form=Actions.schema_to_follow(),
        prompts=SUMMARY,
        read=partial(read_actions, known=frozenset(talk.references), words=words_in(talk.language)),
        language=talk.language,
        temperature=0.3,
    )
