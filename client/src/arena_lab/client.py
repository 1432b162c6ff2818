"""The client, for programs that wait for their answers."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, overload

import httpx

from arena_lab import questions
from arena_lab.credentials import find
from arena_lab.events import Delta, Event
from arena_lab.files import File, file_of
from arena_lab.lines import Line
from arena_lab.paging import Rows
from arena_lab.questions import Cast, ExperimentLike, RunLike, id_of
from arena_lab.records import (
    Ballot,
    Battle,
    Budget,
    Call,
    Campaign,
    Dataset,
    Execution,
    Experiment,
    Judgment,
    Ladder,
    LadderEntry,
    Message,
    Model,
    Run,
    UsageReport,
)
from arena_lab.retrying import Patience
from arena_lab.watching import watch


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

    def export(self, run: RunLike, format: str = "jsonl") -> File:
        """format: jsonl, csv or inspect."""
        return file_of(self._line.do(questions.export(run, format)), f"{id_of(run)}.{format}")


class Ladders:
    """Where models stand."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def list(self) -> Rows[LadderEntry]:
        return Rows(self._line, questions.ladders())

    def get(self, slug: str, *, subset: str | None = None, category: str | None = None) -> Ladder:
        return self._line.do(questions.ladder(slug, subset, category))


class Datasets:
    """Samples, and what contestants made of them."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def list(self) -> Rows[Dataset]:
        return Rows(self._line, questions.datasets())

    def get(self, slug: str) -> Dataset:
        return self._line.do(questions.dataset(slug))

    def upload(self, path: str | Path, name: str, **fields: Any) -> Dataset:
        """The platform reads it when this returns: its state says how far it is. fields: description, modality,
        visibility, columns …
        """
        with Path(path).open("rb") as file:
            return self._line.do(questions.upload(file, str(path), {"name": name, **fields}))


class Arena:
    """The platform. url and token: those of ARENA_URL and ARENA_TOKEN, or of `arena login`, when left out."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._line = Line(find(url, token), patience or Patience(), transport)
        self.experiments, self.runs = Experiments(self._line), Runs(self._line)
        self.ladders, self.datasets = Ladders(self._line), Datasets(self._line)

    def models(self, *, available: bool | None = None) -> Rows[Model]:
        """available: only those that you can ask now, or only those that you cannot."""
        return Rows(self._line, questions.models(available))

    def battles(
        self, *, board: str | None = None, experiment: ExperimentLike | None = None, state: str | None = None
    ) -> Rows[Battle]:
        """state: decided, open or void."""
        return Rows(self._line, questions.battles(board, experiment, state))

    def budgets(self) -> Rows[Budget]:
        return Rows(self._line, questions.budgets())

    def usage(
        self,
        *,
        scope: str | None = None,
        project: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> UsageReport:
        """scope: me, project (one that you lead) or lab. since, until: days, as 2026-02-28; the last thirty else."""
        return self._line.do(questions.usage(scope, project, since, until))

    @overload
    def watch(
        self,
        run: RunLike,
        *,
        after: int = 0,
        deltas: Literal[False] = False,
        live: bool | None = None,
        on_trouble: Callable[[str, float], None] | None = None,
    ) -> Iterator[Event]: ...

    @overload
    def watch(
        self,
        run: RunLike,
        *,
        after: int = 0,
        deltas: Literal[True],
        live: bool | None = None,
        on_trouble: Callable[[str, float], None] | None = None,
    ) -> Iterator[Event | Delta]: ...

    def watch(
        self,
        run: RunLike,
        *,
        after: int = 0,
        deltas: bool = False,
        live: bool | None = None,
        on_trouble: Callable[[str, float], None] | None = None,
    ) -> Iterator[Any]:
        """Every event of a run from the one after `after` on, each once and in order, until the run is over.

        A connection that breaks is made again; on_trouble hears why, and after how many seconds. deltas: the words as
        they come, too, which needs the extra `live`. live False: ask for events, and open no socket.
        """
        for item in watch(self._line, id_of(run), after=after, live=live, told=on_trouble):
            if deltas or isinstance(item, Event):
                yield item

    def wait(self, run: RunLike) -> Run:
        """The run, once it is over."""
        for _event in self.watch(run, live=False):
            pass
        return self.runs.get(run)

    def close(self) -> None:
        self._line.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
