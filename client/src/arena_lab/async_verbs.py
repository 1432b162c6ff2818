"""Experiments and runs, for programs that await their answers. The same as in `verbs`."""

from collections.abc import Mapping
from typing import Any

from arena_lab import questions
from arena_lab.files import File, file_of
from arena_lab.lines import AsyncLine
from arena_lab.paging import AsyncRows
from arena_lab.questions import Cast, ExperimentLike, RunLike, id_of
from arena_lab.records import Ballot, Battle, Call, Campaign, Execution, Experiment, Judgment, Message, Run


class AsyncExperiments:
    """What is to be tried: `create` it, then `start` it."""

    def __init__(self, line: AsyncLine) -> None:
        self._line = line

    async def create(
        self,
        workflow: str,
        cast: Cast,
        config: Mapping[str, Any] | None = None,
        *,
        title: str = "",
        project: str = "",
        **settings: Any,
    ) -> Experiment:
        """cast: a model's slug by seat, or {"model": slug, "params": …}. What is to be done stands in config, or is
        named: `prompt="…", max_turns=3`.
        """
        ask = questions.create(workflow, cast, {**(config or {}), **settings}, title=title, project=project)
        return await self._line.do(ask)

    async def start(
        self,
        experiment: ExperimentLike,
        *,
        repeats: int = 1,
        seed: int | None = None,
        idempotency_key: str | None = None,
    ) -> tuple[Run, ...]:
        """As many runs as `repeats`, with successive seeds. Sent twice under one key, it is done once."""
        ask = questions.start(experiment, repeats=repeats, seed=seed, key=idempotency_key)
        return (await self._line.do(ask)).runs

    def list(self, *, workflow: str | None = None) -> AsyncRows[Experiment]:
        return AsyncRows(self._line, questions.experiments(workflow))

    async def get(self, experiment: ExperimentLike) -> Experiment:
        return await self._line.do(questions.experiment(experiment))

    async def campaign(self, experiment: ExperimentLike) -> Campaign:
        """How far battles are, over all their runs."""
        return await self._line.do(questions.campaign(experiment))

    async def stop(self, experiment: ExperimentLike) -> Campaign:
        """Stop a campaign of battles; other experiments are stopped run by run."""
        return await self._line.do(questions.stop_campaign(experiment))


class AsyncRuns:
    """Runs, what was recorded in them, and steering them."""

    def __init__(self, line: AsyncLine) -> None:
        self._line = line

    def list(
        self,
        *,
        experiment: ExperimentLike | None = None,
        workflow: str | None = None,
        state: str | None = None,
        search: str | None = None,
    ) -> AsyncRows[Run]:
        """The newest first."""
        return AsyncRows(self._line, questions.runs(experiment, workflow, state, search))

    async def get(self, run: RunLike) -> Run:
        """As it is now, with its metrics."""
        return await self._line.do(questions.run(run))

    def messages(self, run: RunLike) -> AsyncRows[Message]:
        return AsyncRows(self._line, questions.messages(run), {"run": id_of(run)})

    def judgments(self, run: RunLike) -> AsyncRows[Judgment]:
        return AsyncRows(self._line, questions.judgments(run), {"run": id_of(run)})

    def ballots(self, run: RunLike) -> AsyncRows[Ballot]:
        return AsyncRows(self._line, questions.ballots(run), {"run": id_of(run)})

    def battles(self, run: RunLike) -> AsyncRows[Battle]:
        return AsyncRows(self._line, questions.battles_of(run))

    def executions(self, run: RunLike) -> AsyncRows[Execution]:
        return AsyncRows(self._line, questions.executions(run), {"run": id_of(run)})

    def calls(self, run: RunLike) -> AsyncRows[Call]:
        return AsyncRows(self._line, questions.calls(run), {"run": id_of(run)})

    async def say(
        self,
        run: RunLike,
        text: str = "",
        *,
        action: str = "send",
        at: str | None = None,
        idempotency_key: str | None = None,
    ) -> Run:
        """Answer a pause. at: its key; the one that is open now when left out."""
        at = at or questions.open_pause(await self.get(run)).key
        return await self._line.do(questions.say(run, action, text, at, idempotency_key))

    async def stop(self, run: RunLike) -> Run:
        """What was said so far is kept. Stopping a run that is over changes nothing."""
        return await self._line.do(questions.stop(run))

    async def pause(self, run: RunLike) -> Run:
        return await self._line.do(questions.pause(run))

    async def resume(self, run: RunLike, *, idempotency_key: str | None = None) -> Run:
        """Go on with a run that was paused, has failed, or was stopped by a budget."""
        return await self._line.do(questions.resume(run, idempotency_key))

    async def branch(
        self, message: Message | str, text: str | None = None, *, idempotency_key: str | None = None
    ) -> Run:
        """A new run that goes on from a message. text: what it says instead."""
        return await self._line.do(questions.branch(message, text, idempotency_key))

    async def report(self, run: RunLike, format: str = "html") -> File:
        """format: html, pdf, md or json."""
        return file_of(await self._line.do(questions.report(run, format)), f"{id_of(run)}.{format}")

    async def artifacts(self, run: RunLike) -> File:
        """All cycles of a coding contest as a zip."""
        return file_of(await self._line.do(questions.artifacts(run)), f"{id_of(run)}.zip")

    async def export(self, run: RunLike, format: str = "jsonl") -> File:
        """format: jsonl, csv or inspect."""
        return file_of(await self._line.do(questions.export(run, format)), f"{id_of(run)}.{format}")
