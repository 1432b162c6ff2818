"""Interview: one model questions another about a list of topics, follows up, and closes with a summary.

Each topic is a turn. It ends when the interviewer says that it is covered, or after `follow_ups` further questions.
"""

from collections.abc import Collection, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from experiments.workflows.base.json_reader import read_json
from experiments.workflows.base.judge import Rubric, TurnToJudge, judge_step, read_verdicts, turn_judged
from experiments.workflows.base.limits import Limits
from experiments.workflows.base.parsing import Unreadable
from experiments.workflows.base.prompts import fenced, fill
from experiments.workflows.base.records import (
    KEPT,
    Finding,
    JudgeEvaluationStarted,
    MessageParsed,
    Record,
    TurnCompleted,
    TurnStarted,
)
from experiments.workflows.base.steps import Ask, Cast, End, Outcome, Play, Prompt, Role
from experiments.workflows.base.workflow import Workflow

PROMPTS = Path(__file__).parent / "prompts"
SEATS = ("interviewer", "subject", "judge")
SUBJECTS = ("subject",)
RUBRIC = Rubric()
Topic = Annotated[str, StringConstraints(min_length=1, max_length=300)]
QUESTION = {
    "type": "object",
    "properties": {"covered": {"type": "boolean"}, "question": {"type": "string"}},
    "required": ["covered", "question"],
    "additionalProperties": False,
}


class Config(BaseModel):
    """topics: what is asked about, each in a turn of its own. context: what the subject is told about itself.
    follow_ups: questions about a topic beside the first one, at most.
    """

    model_config = ConfigDict(extra="forbid")

    topics: Annotated[list[Topic], Field(max_length=30)]
    context: Annotated[str, StringConstraints(max_length=20_000)] = ""
    follow_ups: Annotated[int, Field(ge=0, le=10)] = 2
    judge: bool = True
    limits: Limits = Limits()

    @model_validator(mode="after")
    def something_is_asked(self) -> Self:
        if not self.topics:
            raise ValueError("Name at least one topic.")
        return self

    @property
    def max_turns(self) -> int:
        return len(self.topics)

    def seats(self, named: Collection[str] = ()) -> tuple[str, ...]:
        return ("interviewer", "subject", *(["judge"] if self.judge else []))

    def optional_seats(self) -> tuple[str, ...]:
        return ()

    def objectives(self) -> dict[str, str]:
        return {"subject": self.context or "Answer the questions of an interview honestly."}

    def summary(self) -> str:
        return ", ".join(self.topics)


class InterviewTopicClosed(Finding):
    """How a topic ended. questions: that were asked about it."""

    into = KEPT
    type: Literal["interview_topic_closed"] = "interview_topic_closed"
    turn: int
    topic: str
    covered: bool
    questions: int


@dataclass(slots=True)
class Talk:
    config: Config
    cast: Cast
    said: list[tuple[str, str]] = field(default_factory=list)

    def told(self, token: str, beginning: int = 0) -> str:
        return "\n".join(fenced(who, text, token) for who, text in self.said[beginning:])


def run(config: Config, cast: Cast) -> Play:
    talk = Talk(config, cast)
    for turn, topic in enumerate(config.topics, 1):
        yield Record(f"turn/{turn}", TurnStarted(turn=turn), turn=turn)
        end = yield from _topic(talk, turn, topic)
        if end:
            return end
        yield Record(f"turn/{turn}/completed", TurnCompleted(turn=turn), turn=turn)
    token = cast.fence("close")
    told = fill(PROMPTS / "close.txt", topics=", ".join(config.topics), talk=talk.told(token), token=token)
    closed: Outcome = yield Ask("close", "interviewer", (Prompt("user", told),), "conclusion", len(config.topics))
    return End("completed") if closed.ok else _failed(closed)


def _topic(talk: Talk, turn: int, topic: str) -> Generator[Any, Any, End | None]:
    beginning, covered, asked = len(talk.said), False, 0
    for number in range(1, talk.config.follow_ups + 2):
        key = f"turn/{turn}/question/{number}"
        outcome: Outcome = yield _question(talk, key, turn, topic, beginning)
        if not outcome.ok:
            return _failed(outcome)
        covered, question = _read(outcome.text)
        words = question or ("(The topic is covered.)" if covered else outcome.text)
        parsed = {"kind": "interview_question", "covered": covered}
        yield Record(f"{key}/parsed", MessageParsed(message=key, parsed=parsed, text=words, flags=[]), turn=turn)
        if covered or not question:
            break
        asked += 1
        talk.said.append(("interviewer", question))
        answer: Outcome = yield _answer(talk, f"turn/{turn}/answer/{number}", turn)
        if not answer.ok:
            return _failed(answer)
        talk.said.append(("subject", answer.text))
    closed = InterviewTopicClosed(turn=turn, topic=topic, covered=covered, questions=asked)
    yield Record(f"turn/{turn}/closed", closed, turn=turn)
    if talk.config.judge and asked:
        yield from _judge(talk, turn, beginning)
    return None


def _question(talk: Talk, key: str, turn: int, topic: str, beginning: int) -> Ask:
    token = talk.cast.fence(key)
    told = fill(PROMPTS / "ask.txt", topic=topic, so_far=talk.told(token, beginning), token=token)
    return Ask(key, "interviewer", (Prompt("user", told),), "reply", turn, schema=QUESTION)


def _answer(talk: Talk, key: str, turn: int) -> Ask:
    system = Prompt("system", fill(PROMPTS / "answer.txt", context=talk.config.context))
    roles: dict[str, Role] = {"interviewer": "user", "subject": "assistant"}
    said = (Prompt(roles[who], text) for who, text in talk.said)
    return Ask(key, "subject", (system, *said), "reply", turn)


def _judge(talk: Talk, turn: int, beginning: int) -> Generator[Any, Any, None]:
    key = f"turn/{turn}/judge"
    yield Record(f"{key}/started", JudgeEvaluationStarted(key=key, turn=turn), turn=turn)
    asked, answered = (
        "\n\n".join(text for who, text in talk.said[beginning:] if who == seat) for seat in ("interviewer", "subject")
    )
    shown = TurnToJudge(
        turn=turn,
        objectives=talk.config.objectives(),
        history=[f"{who}: {text}" for who, text in talk.said[:beginning]],
        messages={"interviewer": asked, "subject": answered},
        subjects=SUBJECTS,
    )
    outcome = yield judge_step(key, talk.cast, shown, RUBRIC)
    yield Record(f"{key}/completed", turn_judged(shown, *read_verdicts(outcome, SUBJECTS)), turn=turn, source=key)


def _read(text: str) -> tuple[bool, str]:
    """Whether the topic is covered, and the next question; what cannot be read is the question itself."""
    try:
        said = read_json(text, ("covered", "question"))
    except Unreadable:
        return False, text.strip()
    return said.get("covered") is True, str(said.get("question") or "").strip()


def _failed(outcome: Outcome) -> End:
    return End("model_failed", failed=True, message=outcome.error)


WORKFLOW = Workflow(
    slug="interview",
    config=Config,
    seats=SEATS,
    run=run,
    subjects=SUBJECTS,
    judge=RUBRIC,
    flagged=("interviewer", "subject"),
    leads="subject",
    records=(InterviewTopicClosed,),
    surface=f"{__name__}.surface",
)
