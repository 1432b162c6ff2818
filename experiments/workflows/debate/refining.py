"""From a request to the final prompt: a refiner prepares it, and a person has the last word."""

from collections.abc import Generator
from functools import partial
from typing import Any

from experiments.workflows.base.records import MessageSent, MessageSuperseded, Record, StageStarted
from experiments.workflows.base.steps import STOPPED, End, Listen, Outcome, numbered
from experiments.workflows.debate.answers import read_brief
from experiments.workflows.debate.asking import Answer, Question, answered
from experiments.workflows.debate.forms import Brief
from experiments.workflows.debate.prompting import REFINE, to_refine
from experiments.workflows.debate.talk import Talk
from experiments.workflows.debate.wording import brief_text, words_in

UNREAD = "The refinement could not be read: %s."


def refined(talk: Talk) -> Generator[Any, Any, Talk | End]:
    """The talk with its task, which does not change any more."""
    request = talk.config.prompt
    yield Record("request", _words(request, "request"), turn=0)
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
    final = _unanswered(talk, answer) if said.passed and answer else said.text
    yield Record("prompt/final", _words(final, "final_prompt"), turn=0)
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
    return Listen(
        numbered("prompt", attempt),
        "final_prompt",
        ("send", "default", *(["retry"] if answer else []), "end"),
        default=default,
        turn=0,
        may_pass=True,
        error=_trouble(answer),
    )


def _unanswered(talk: Talk, answer: Answer) -> str:
    """The final prompt where nobody is asked: without the questions, which nobody answers."""
    if answer.reading is None:
        return talk.config.prompt
    return brief_text({**answer.reading.parsed, "clarifying_questions": ()}, words_in(talk.language))


def _trouble(answer: Answer | None) -> str:
    if answer is None:
        return ""
    return answer.error or (UNREAD % answer.unread_reason if answer.unread_reason else "")


def _words(text: str, kind: str) -> MessageSent:
    return MessageSent(seat="person", text=text, parsed={"kind": kind})
