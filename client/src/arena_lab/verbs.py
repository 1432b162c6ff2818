"""Experiments and runs: setting up, reading, steering."""

from collections.abc import Mapping
from typing import Any

from arena_lab import questions
from arena_lab.files import File, file_of
from arena_lab.lines import Line
from arena_lab.paging import Rows
from arena_lab.questions import Cast, ExperimentLike, RunLike, id_of
from arena_lab.records import Ballot, Battle, Call, Campaign, Execution, Experiment, Judgment, Message, Run


class Experiments:
    """What is to be tried: `create` it, then `start` it."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def create(
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
        return self._line.do(ask)

    def start(
        self,
        experiment: ExperimentLike,
        *,
        repeats: int = 1,
        seed: int | None = None,
        idempotency_key: str | None = None,
    ) -> tuple[Run, ...]:
        """As many runs as `repeats`, with successive seeds. Sent twice under one key, it is done once."""
        ask = questions.start(experiment, repeats=repeats, seed=seed, key=idempotency_key)
        return (self._line.do(ask)).runs

    def list(self, *, workflow: str | None = None) -> Rows[Experiment]:
        return Rows(self._line, questions.experiments(workflow))

    def get(self, experiment: ExperimentLike) -> Experiment:
        return self._line.do(questions.experiment(experiment))

    def campaign(self, experiment: ExperimentLike) -> Campaign:
        """How far battles are, over all their runs."""
        return self._line.do(questions.campaign(experiment))

    def stop(self, experiment: ExperimentLike) -> Campaign:
        """Stop a campaign of battles; other experiments are stopped run by run."""
        return self._line.do(questions.stop_campaign(experiment))


class Runs:
    """Runs, what was recorded in them, and steering them."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def list(
        self,
        *,
        experiment: ExperimentLike | None = None,
        workflow: str | None = None,
        state: str | None = None,
        search: str | None = None,
    ) -> Rows[Run]:
        """The newest first."""
        return Rows(self._line, questions.runs(experiment, workflow, state, search))

    def get(self, run: RunLike) -> Run:
        """As it is now, with its metrics."""
        return self._line.do(questions.run(run))

    def messages(self, run: RunLike) -> Rows[Message]:
        return Rows(self._line, questions.messages(run), {"run": id_of(run)})

    def judgments(self, run: RunLike) -> Rows[Judgment]:
        return Rows(self._line, questions.judgments(run), {"run": id_of(run)})

    def ballots(self, run: RunLike) -> Rows[Ballot]:
        return Rows(self._line, questions.ballots(run), {"run": id_of(run)})

    def battles(self, run: RunLike) -> Rows[Battle]:
        return Rows(self._line, questions.battles_of(run))

    def executions(self, run: RunLike) -> Rows[Execution]:
        return Rows(self._line, questions.executions(run), {"run": id_of(run)})

    def calls(self, run: RunLike) -> Rows[Call]:
        return Rows(self._line, questions.calls(run), {"run": id_of(run)})

    def say(
        self,
        run: RunLike,
        text: str = "",
        *,
        action: str = "send",
        at: str | None = None,
        idempotency_key: str | None = None,
    ) -> Run:
        """Answer a pause. at: its key; the one that is open now when left out."""
        at = at or questions.open_pause(self.get(run)).key
        return self._line.do(questions.say(run, action, text, at, idempotency_key))

    def stop(self, run: RunLike) -> Run:
        """What was said so far is kept. Stopping a run that is over changes nothing."""
        return self._line.do(questions.stop(run))

    def pause(self, run: RunLike) -> Run:
        return self._line.do(questions.pause(run))

    def resume(self, run: RunLike, *, idempotency_key: str | None = None) -> Run:
        """Go on with a run that was paused, has failed, or was stopped by a budget."""
        return self._line.do(questions.resume(run, idempotency_key))

    def branch(self, message: Message | str, text: str | None = None, *, idempotency_key: str | None = None) -> Run:
        """A new run that goes on from a message. text: what it says instead."""
        return self._line.do(questions.branch(message, text, idempotency_key))

    def report(self, run: RunLike, format: str = "html") -> File:
        """format: html, pdf, md or json."""
        return file_of(self._line.do(questions.report(run, format)), f"{id_of(run)}.{format}")

    def artifacts(self, run: RunLike) -> File:
        """All cycles of a coding contest as a zip."""
        return file_of(self._line.do(questions.artifacts(run)), f"{id_of(run)}.zip")

    def export(self, run: RunLike, format: str = "jsonl") -> File:
        """format: jsonl, csv or inspect."""
        return file_of(self._line.do(questions.export(run, format)), f"{id_of(run)}.{format}")
