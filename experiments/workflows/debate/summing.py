"""The end of a debate: a summary whose every action names the points it rests on, and what may follow it."""

from collections.abc import Generator
from functools import partial
from typing import Any

from experiments.workflows.base.records import MessageSuperseded, Record, StageStarted
from experiments.workflows.base.steps import End, Listen, Outcome, numbered
from experiments.workflows.debate.answers import read_actions
from experiments.workflows.debate.asking import Question, answered
from experiments.workflows.debate.forms import Actions
from experiments.workflows.debate.prompting import SUMMARY, to_sum_up
from experiments.workflows.debate.rounds import LAST_ROUND, TOO_LONG, added
from experiments.workflows.debate.talk import Talk
from experiments.workflows.debate.wording import words_in

Going = Generator[Any, Any, "tuple[Talk, str, int] | End"]


def summed_up(talk: Talk, asked: int) -> Going:
    """The talk, what follows the summary (`round` or `summarize`), and how often a summary has been asked for; asked:
    how often it had been before.
    """
    number = max(speech.round for speech in talk.speeches)
    turn, count = number + 1, asked + 1
    stage = StageStarted(turn=turn, stage="summary", number=1, of=1)
    yield Record(numbered("stage/summary", count), stage, turn=turn)
    answer = yield from answered(talk.cast, _question(talk, turn, count))
    if answer.error_kind == TOO_LONG:
        count += 1
        answer = yield from answered(talk.cast, _question(talk, turn, count, is_short=True))
    if answer.has_failed:
        return End("summary_failed", failed=True, message=answer.error)
    said: Outcome = yield _offer(number, turn, count)
    yield Record(f"{answer.key}/superseded", MessageSuperseded(message=answer.key), turn=turn)
    if number < LAST_ROUND:
        talk = yield from added(talk, said.text)
    return talk, said.action, count


def _offer(number: int, turn: int, count: int) -> Listen:
    actions = ("summarize", *(["round"] if number < LAST_ROUND else []))
    return Listen(numbered("summary/next", count), "concluded", actions, turn=turn, is_offer=True)


def _question(talk: Talk, turn: int, count: int, *, is_short: bool = False) -> Question:
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
