"""StarChamber: a researcher questions one model. The judge works in the background, the researcher need not wait."""

from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from experiments.workflows.base.judge import (
    SECONDS,
    STORED_WITHOUT,
    Rubric,
    Seconds,
    TurnToJudge,
    judge_turn,
)
from experiments.workflows.base.limits import Limits
from experiments.workflows.base.measuring import RECORDS, Chosen, run_measured, turn_measured
from experiments.workflows.base.records import (
    MessageSent,
    MessageSuperseded,
    Record,
    TurnCompleted,
    TurnStarted,
)
from experiments.workflows.base.script import LONGEST_SCRIPT, Script, Text, next_line
from experiments.workflows.base.steps import STOPPED, Ask, Cast, End, Listen, Outcome, Play, Prompt, numbered
from experiments.workflows.base.workflow import Workflow

SEATS = ("model", "judge")
SUBJECTS = ("model",)
DEFAULT_PARAMS = {"temperature": 0.7, "max_tokens": 6144}
TOP_LOGPROBS = 5
RUBRIC = Rubric("starchamber/judge", "starchamber/rubric", subject="model")


class Config(BaseModel):
    """How a model is questioned. context: the system message, none at all when blank; nothing is ever added to it.

    preset: which saved context it is, "custom" when it was changed. persona: how the researcher is named on the page.
    script: what is said after the first message. With a script nobody is waited for, and max_turns is at most its end.
    instrument: what the judge measures, by its own prompt and limits, instead of the usual scores.
    """

    STORED_WITHOUT: ClassVar[Mapping[str, Any]] = {k: v for k, v in STORED_WITHOUT.items() if k != "judge_sees"}
    model_config = ConfigDict(extra="forbid")

    context: Text = ""
    preset: Annotated[str, StringConstraints(max_length=80)] = ""
    persona: Annotated[str, StringConstraints(max_length=100)] = ""
    first_message: Text
    script: Script = []
    logprobs: bool = True
    judge: bool = True
    instrument: Chosen | None = None
    judge_sees_reasoning: bool = True
    judge_seconds: Seconds = SECONDS
    limits: Limits = Limits()
    max_turns: Annotated[int, Field(ge=1, le=10_000)] | None = None

    @model_validator(mode="after")
    def something_is_asked(self) -> Self:
        if not self.first_message.strip():
            raise ValueError("Write the first message. The researcher begins.")
        if self.script:
            self.max_turns = min(self.max_turns or LONGEST_SCRIPT + 1, len(self.script) + 1)
        return self

    def seats(self, named: Collection[str] = ()) -> tuple[str, ...]:
        return ("model", *(["judge"] if self.judge else []))

    def optional_seats(self) -> tuple[str, ...]:
        return ()

    def objectives(self) -> dict[str, str]:
        """What the judge is told that each subject is to do."""
        return {"model": self.context.strip() or "(no system context was given)"}

    def summary(self) -> str:
        return self.first_message


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer."""

    question: str
    answer: str
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """What the model remembers. A question that got no answer is in the record, but not here. place: in the script, of
    the next message.
    """

    config: Config
    cast: Cast
    exchanges: tuple[Exchange, ...] = ()
    place: int = 0

    def asked(self, question: str) -> tuple[Prompt, ...]:
        """The request: the context as it stands, the answered exchanges, the question. Nothing else."""
        system = (Prompt("system", self.config.context),) if self.config.context.strip() else ()
        past = [
            prompt
            for exchange in self.exchanges
            for prompt in (Prompt("user", exchange.question), Prompt("assistant", exchange.answer))
        ]
        return (*system, *past, Prompt("user", question))

    def and_then(self, exchange: Exchange, place: int = 0) -> "Talk":
        return Talk(self.config, self.cast, (*self.exchanges, exchange), place)

    def shown_to_judge(self, turn: int, exchange: Exchange) -> TurnToJudge:
        past = [f"Researcher: {past.question}\n\nModel: {past.answer}" for past in self.exchanges]
        thought = {"model": exchange.reasoning} if exchange.reasoning else {}
        return TurnToJudge(
            turn=turn,
            objectives={"model": self.config.context.strip() or "(no system context was given)"},
            history=past,
            messages={"researcher": exchange.question, "model": exchange.answer},
            subjects=SUBJECTS,
            reasoning=thought if self.config.judge_sees_reasoning else None,
            earlier_reasoning=[
                f"Before answer {number}: {past.reasoning}"
                for number, past in enumerate(self.exchanges, 1)
                if past.reasoning
            ],
        )


Playing = Generator[Any, Any, End]


def run(config: Config, cast: Cast) -> Play:
    end = yield from _turn(Talk(config, cast), 1, config.first_message)
    if config.judge and not end.failed:
        yield from run_measured(cast, config.instrument, SUBJECTS)
    return end


@dataclass(frozen=True, slots=True)
class Question:
    """A question on its way to an answer. attempt counts all requests for it; variant those that were answered, so that
    an attempt after a failure is the same request again, and a regenerated answer is not.
    """

    turn: int
    text: str
    attempt: int = 1
    variant: int = 1

    @property
    def key(self) -> str:
        return numbered(f"turn/{self.turn}/answer", self.attempt)

    def again(self, *, answered: bool) -> "Question":
        return Question(self.turn, self.text, self.attempt + 1, self.variant + answered)


def _turn(talk: Talk, turn: int, text: str) -> Playing:
    yield Record(f"turn/{turn}", TurnStarted(turn=turn), turn=turn)
    yield Record(f"turn/{turn}/question", MessageSent(seat="researcher", text=text), turn=turn)
    return (yield from _answer(talk, Question(turn, text)))


def _answer(talk: Talk, question: Question) -> Playing:
    answer: Outcome = yield Ask(
        key=question.key,
        seat="model",
        turn=question.turn,
        messages=talk.asked(question.text),
        params=DEFAULT_PARAMS | ({"top_logprobs": TOP_LOGPROBS} if talk.config.logprobs else {}),
        draw=f"turn/{question.turn}/answer/{question.variant}",
    )
    if not answer.ok:
        return (yield from _without_answer(talk, question, answer))
    exchange = Exchange(question.text, answer.text, answer.reasoning)
    instrument, judging = talk.config.instrument, [_judge(talk, question, exchange)] if talk.config.judge else []
    if instrument and not instrument.definition.beside:
        yield judging
        judging = []
    *_judged, end = yield [*judging, _after(talk, question, exchange)]
    return end  # type: ignore[no-any-return]  # a generator's value, which `yield from` leaves untyped


def _judge(talk: Talk, question: Question, exchange: Exchange) -> Generator[Any, Any, None]:
    key, config = f"{question.key}/judge", talk.config
    if config.instrument:
        said = {"researcher": f"turn/{question.turn}/question", "model": question.key}
        yield from turn_measured(key, talk.cast, config.instrument, question.turn, said, SUBJECTS)
    else:
        shown = talk.shown_to_judge(question.turn, exchange)
        yield from judge_turn(key, talk.cast, shown, RUBRIC, subjects=SUBJECTS, seconds=config.judge_seconds)


def _after(talk: Talk, question: Question, exchange: Exchange) -> Playing:
    """The researcher goes on, has the question answered again, or ends the talk. Runs beside the judge."""
    key, turn, script = question.key, question.turn, talk.config.script
    yield Record(f"{key}/completed", TurnCompleted(turn=turn), turn=turn)
    if turn == talk.config.max_turns:
        return End("max_turns")
    if script:
        place = next_line(script, talk.place, exchange.answer)
        if place is None:
            return End("completed")
        return (yield from _turn(talk.and_then(exchange, place + 1), turn + 1, script[place].text))
    actions = ("send", "regenerate", "end")
    said = yield Listen(f"{key}/next", "your_turn", actions, seat="researcher", turn=turn)
    if said.action == "end":
        return STOPPED
    if said.action == "regenerate":
        yield Record(f"{key}/superseded", MessageSuperseded(message=key), turn=turn)
        return (yield from _answer(talk, question.again(answered=True)))
    return (yield from _turn(talk.and_then(exchange), turn + 1, said.text))


def _without_answer(talk: Talk, question: Question, failed: Outcome) -> Playing:
    """The model gave no answer: the same question again, another one in its place, or the end; with a script, the run
    fails, and can be resumed.
    """
    if talk.config.script:
        return End(failed.error_kind, failed=True, message=failed.error)
    key, actions = f"{question.key}/failed", ("retry", "send", "end")
    said = yield Listen(key, "answer_failed", actions, seat="researcher", turn=question.turn, error=failed.error)
    if said.action == "end":
        return STOPPED
    if said.action == "retry":
        return (yield from _answer(talk, question.again(answered=False)))
    return (yield from _turn(talk, question.turn + 1, said.text))


WORKFLOW = Workflow(
    slug="starchamber",
    config=Config,
    seats=SEATS,
    run=run,
    place=2,
    subjects=SUBJECTS,
    judge=RUBRIC,
    flagged=SUBJECTS,
    opening="first_message",
    private=("persona",),
    records=RECORDS,
    surface=f"{__name__}.surface",
)
