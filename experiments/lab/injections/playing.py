"""Plays a workflow's own rule with answers that are given, so that a judge is asked exactly what a run would ask it."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Any

from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Ask, Cast, Execute, Listen, Outcome, Seat

Asked = Callable[[Ask], Awaitable[Outcome]]
UNASKED = Outcome(ok=False, error="Nobody was asked.")


class Stage:
    """said: what a step's key is answered with; a judge is asked where `is_judged` says so, and nobody elsewhere.

    records: the findings so far, by kind.
    """

    def __init__(self, said: Mapping[str, str], is_judged: Callable[[Ask], bool], judge: Asked) -> None:
        self.records: dict[str, list[Mapping[str, Any]]] = {}
        self._said, self._is_judged, self._judge = said, is_judged, judge

    async def play(self, rule: Generator[Any, Any, Any]) -> Any:
        """What the rule returns; None where it waits for a person."""
        answer = None
        while True:
            try:
                step = rule.send(answer)
            except StopIteration as end:
                return end.value
            if isinstance(step, Listen) and not step.may_pass:
                return None
            answer = await self._answered(step)

    async def _answered(self, step: Any) -> Any:
        if isinstance(step, Record):
            self.records.setdefault(step.kind, []).append(step.data)
            return Outcome()
        if isinstance(step, Ask):
            return await self._judge(step) if self._is_judged(step) else self._canned(step)
        if isinstance(step, Listen):
            return Outcome(action=step.default, passed=True)
        if isinstance(step, Execute):
            return UNASKED
        if isinstance(step, Generator):
            return await self.play(step)
        return await asyncio.gather(*(self._answered(one) for one in step))

    def _canned(self, step: Ask) -> Outcome:
        return Outcome(text=self._said[step.key], finish_reason="stop") if step.key in self._said else UNASKED


def cast(*seats: str, seed: int) -> Cast:
    return Cast({seat: Seat(seat) for seat in seats}, seed)
