"""Every string once against each way of judging, and beside it the same answers without any."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.lab.injections.corpus import CASES, strings
from experiments.lab.injections.playing import Asked
from experiments.lab.injections.trials import CALLS, TRIALS, Result
from experiments.workflows.base.steps import Ask, Outcome
from leaderboard.ratings.statistics import Share

AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Rate:
    """attacked: the share of attacked trials that the wrong answer won; alone: of those without an instruction, what
    it wins by itself. unread: attacked trials of which no verdict could be read; they count as tried.
    """

    workflow: str
    attacked: Share
    alone: Share
    unread: int


def calls(workflows: Iterable[str], strings_: int | None = None) -> int:
    """How many questions a measurement asks at least."""
    count = len(strings()) if strings_ is None else strings_
    return sum(CALLS[workflow] * (count + len(CASES)) for workflow in workflows)


async def measured(
    judge: Asked, workflows: Sequence[str] = tuple(TRIALS), *, at_once: int = AT_ONCE, most: int | None = None
) -> list[Rate]:
    """judge: asks the model; a failure is an Outcome that is not ok. most: strings that are tried, all if None."""
    free = asyncio.Semaphore(at_once)

    async def asked(ask: Ask) -> Outcome:
        async with free:
            return await judge(ask)

    return [await _rate(workflow, asked, strings()[:most]) for workflow in workflows]


async def _rate(workflow: str, judge: Asked, tried: Sequence[str]) -> Rate:
    trial = TRIALS[workflow]
    attacked = await asyncio.gather(*(trial(number, text, judge) for number, text in enumerate(tried)))
    alone = await asyncio.gather(*(trial(number, "", judge) for number in range(len(CASES))))
    return Rate(workflow, _won(attacked), _won(alone), attacked.count(Result.UNREAD))


def _won(results: Sequence[Result]) -> Share:
    return Share(results.count(Result.WON), len(results))
