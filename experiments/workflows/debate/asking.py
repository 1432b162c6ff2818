"""One question of a debate: asked, of others of the pool where a model is rate-limited, read, and repaired once."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from experiments.workflows.base.flags import other_language
from experiments.workflows.base.parsing import Unreadable
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import MessageParsed, Record, SeatReplaced
from experiments.workflows.base.steps import Ask, Cast, Outcome, Prompt, numbered
from experiments.workflows.debate.answers import ACTIONS, BRIEF, POINTS, Part, Reading, language_name, prose
from experiments.workflows.debate.config import POOL
from experiments.workflows.debate.talk import Speech, Talk

Prompts = tuple[Prompt, Prompt]
LANGUAGE, ADDENDUM = "debate/language", "debate/addendum"
REFINE = ("debate/refiner", "debate/refine", LANGUAGE)
VIEWS = {"A": "debate/view_a", "B": "debate/view_b", "C": "debate/view_c"}
ROUND = ("debate/debater", *VIEWS.values(), "debate/counter", "debate/no_counter", "debate/round", ADDENDUM, LANGUAGE)
SUMMARY = ("debate/summarizer", "debate/summary", ADDENDUM, LANGUAGE)
REPAIR = "debate/repair"


def to_refine(talk: Talk, key: str) -> Prompts:
    token = talk.cast.fence(key)
    system = fill("debate/refiner", language=_language(talk), token=token, form=BRIEF)
    return Prompt("system", system), Prompt(
        "user", fill("debate/refine", request=fenced("request", talk.config.prompt, token))
    )


def to_speak(talk: Talk, part: Part, key: str, *, is_short: bool = False) -> Prompts:
    """is_short: with the points of the others cut down, for a model whose context they exceeded."""
    token = talk.cast.fence(key)
    counter = "debate/counter" if part.counterpoints else "debate/no_counter"
    system = fill(
        "debate/debater",
        seat=part.speaker,
        view=fill(VIEWS[part.speaker]),
        points=part.points,
        counter=fill(counter, **({"counterpoints": part.counterpoints} if part.counterpoints else {})),
        language=_language(talk),
        token=token,
        form=POINTS % part.speaker,
    )
    heard = [_points(speech, token, is_short) for speech in talk.heard_by(part.speaker, part.round)]
    user = fill(
        "debate/round",
        round=part.round,
        seat=part.speaker,
        task=fenced("task", talk.task, token),
        addendum=_addendum(talk, token),
        points="\n\n".join(heard) or "(nothing)",
    )
    return Prompt("system", system), Prompt("user", user)


def to_sum_up(talk: Talk, key: str, *, is_short: bool = False) -> Prompts:
    token = talk.cast.fence(key)
    system = fill("debate/summarizer", language=_language(talk), token=token, form=ACTIONS)
    rounds = sorted({speech.round for speech in talk.speeches})
    blocks = [_round(talk, number, token, is_short) for number in rounds]
    task, addendum = fenced("task", talk.task, token), _addendum(talk, token)
    user = fill("debate/summary", task=task, addendum=addendum, rounds="\n\n".join(blocks))
    return Prompt("system", system), Prompt("user", user)


def to_repair(prompts: tuple[Prompt, ...], answer: str, reason: str, token: str) -> tuple[Prompt, ...]:
    """The same question with the answer that could not be read."""
    *before, last = prompts
    repair = fill(REPAIR, reason=reason, token=token, answer=fenced("answer", answer, token))
    return (*before, Prompt("user", f"{last.content}\n\n{repair}"))


def _round(talk: Talk, number: int, token: str, is_short: bool) -> str:
    blocks = [_block(speech, token, is_short) for speech in talk.of_round(number)]
    return "\n\n".join([f"Round {number}", *blocks])


def _block(speech: Speech, token: str, is_short: bool) -> str:
    if speech.has_failed:
        return f"Debater {speech.seat} gave no answer in round {speech.round} ({speech.error_kind})."
    if speech.points is None:
        return f"{speech.name}, unparsed:\n{fenced(f'unparsed-{speech.name}', speech.raw, token)}"
    return _points(speech, token, is_short)


def _points(speech: Speech, token: str, is_short: bool) -> str:
    return fenced(f"points-{speech.name}", speech.lines(is_short=is_short), token)


def _addendum(talk: Talk, token: str) -> str:
    if not talk.addenda:
        return ""
    addendum = fenced("addendum", "\n\n".join(talk.addenda), token)
    return f"\n{fill(ADDENDUM, addendum=addendum)}\n"


def _language(talk: Talk) -> str:
    language = talk.language
    return fill(LANGUAGE, named=f", which is {language_name(language)}" if language else "")


PATIENCE = 5.0  # seconds; a model that wants to be left alone for longer is not waited for where others could answer
PAUSE = 0.2  # seconds between one model's refusal and the next one's question
RATE_LIMITED = "rate_limited"
TRUNCATED = "length"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a seat, and how its answer is read. language: the one that is expected. flags: what is known to
    be out of the ordinary before it is asked.
    """

    key: str
    seat: str
    turn: int
    purpose: str
    role: str
    messages: tuple[Prompt, ...]
    form: Mapping[str, Any]
    prompts: tuple[str, ...]
    read: Callable[[str], Reading]
    language: str | None = None
    temperature: float = 0.7
    draw: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a question. key: of the step that was answered, or failed last. reading None: see raw and
    unread_reason, or error_kind and error.
    """

    key: str
    reading: Reading | None = None
    raw: str = ""
    unread_reason: str = ""
    error_kind: str = ""
    error: str = ""

    @property
    def has_failed(self) -> bool:
        return bool(self.error_kind)


Playing = Generator[Any, Any, Answer]


@dataclass(slots=True)
class _Attempt:
    """A question on its way: who has been tried, and what became of it."""

    key: str
    outcome: Outcome
    tried: list[str] = field(default_factory=list)

    @property
    def last(self) -> str:
        return self.tried[-1]


def answered(cast: Cast, question: Question) -> Playing:
    """Ask, and read what is answered. A failure is data; an answer that cannot be read even when it is given again is
    kept as it is.
    """
    spare = [seat for seat in POOL if seat in cast.seats]
    attempt = _Attempt(question.key, (yield _ask(question, bool(spare))), [question.seat])
    for number, seat in enumerate(spare, 1):
        if attempt.outcome.ok or attempt.outcome.error_kind != RATE_LIMITED:
            break
        key = f"{question.key}/{seat}"
        yield _replaced(question, number, attempt, key=key, by=seat)
        attempt.key, attempt.outcome = key, (yield _ask(question, is_impatient=True, key=key, played_by=seat))
        attempt.tried.append(seat)
    if not attempt.outcome.ok:
        return Answer(attempt.key, error_kind=attempt.outcome.error_kind, error=_failure(cast, attempt))
    return (yield from _read(cast, question, attempt))


def _read(cast: Cast, question: Question, attempt: _Attempt) -> Playing:
    key, raw = attempt.key, attempt.outcome.text
    reading: Reading | None
    try:
        reading, reason, source = question.read(raw), "", key
    except Unreadable as unreadable:
        reading, reason = yield from _repair(cast, question, attempt, _why(unreadable, attempt.outcome))
        source = f"{key}/repair"
    found = reading or Reading({"kind": "unread", "reason": reason}, raw, ("unread",))
    flags = [*question.flags, *found.flags]
    parsed = MessageParsed(message=key, parsed=found.parsed, text=found.text, flags=flags)
    yield Record(f"{key}/parsed", parsed, turn=question.turn, source=source)
    return Answer(key, reading, raw, reason)


def _repair(
    cast: Cast, question: Question, attempt: _Attempt, reason: str
) -> Generator[Any, Any, tuple[Reading | None, str]]:
    """The same answer once more, in the form that was asked for."""
    key = f"{attempt.key}/repair"
    messages = to_repair(question.messages, attempt.outcome.text, reason, cast.fence(key))
    outcome = yield Ask(
        key=key,
        seat=question.seat,
        messages=messages,
        purpose="repair",
        turn=question.turn,
        schema=dict(question.form),
        params={"temperature": 0.0},
        prompt_version=version(*question.prompts, REPAIR),
        role=question.role,
        played_by="" if attempt.last == question.seat else attempt.last,
    )
    if not outcome.ok:
        return None, f"{reason}; asked to give it again, the model failed: {outcome.error}"
    try:
        reading = question.read(outcome.text)
    except Unreadable as unreadable:
        return None, f"{reason}; when it was given again, {_why(unreadable, outcome)}"
    return Reading(reading.parsed, reading.text, ("repaired", *reading.flags)), ""


def _ask(question: Question, is_impatient: bool, *, key: str = "", played_by: str = "") -> Ask:
    return Ask(
        key=key or question.key,
        seat=question.seat,
        messages=question.messages,
        purpose=question.purpose,
        turn=question.turn,
        schema=dict(question.form),
        params={"temperature": question.temperature},
        prompt_version=version(*question.prompts),
        delay=PAUSE if played_by else 0.0,
        draw=question.draw,
        role=question.role,
        played_by=played_by,
        patience=PATIENCE if is_impatient else None,
        inspect=lambda text: other_language(question.language, prose(text)),
    )


def _replaced(question: Question, number: int, attempt: _Attempt, *, key: str, by: str) -> Record:
    """Another model of the pool is asked in place of the one that was asked last."""
    instead = {} if attempt.last == question.seat else {"instead_of": attempt.last}
    why = {"reason": RATE_LIMITED, "error": attempt.outcome.error}
    replaced = SeatReplaced(key=key, seat=question.seat, by=by, **why, **instead)
    return Record(numbered(f"{question.key}/instead", number), replaced, turn=question.turn)


def _why(unreadable: Unreadable, outcome: Outcome) -> str:
    cut = ", and it was cut off at the token limit" if outcome.finish_reason == TRUNCATED else ""
    return f"{unreadable}{cut}"


def _failure(cast: Cast, attempt: _Attempt) -> str:
    """Why nobody answered, with the models that were tried where there were several."""
    error = attempt.outcome.error
    if len(attempt.tried) == 1:
        return error
    names = [next(iter(cast.seats[seat].called), seat) if seat in cast.seats else seat for seat in attempt.tried]
    if attempt.outcome.error_kind == RATE_LIMITED:
        return f"Every model that was tried is rate-limited: {', '.join(names)}. {error}"
    return f"{', '.join(names[:-1])}: rate-limited. {names[-1]}: {error}"
