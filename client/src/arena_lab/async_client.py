"""The client, for programs that await their answers. The same as `client`, where it is described."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, overload

import httpx

from arena_lab import questions
from arena_lab.async_studies import AsyncStudies
from arena_lab.async_verbs import AsyncExperiments, AsyncRuns
from arena_lab.awatching import watch
from arena_lab.credentials import find
from arena_lab.events import Delta, Event
from arena_lab.files import File, file_of
from arena_lab.lines import AsyncLine
from arena_lab.paging import AsyncRows
from arena_lab.questions import Cast, ExperimentLike, InstrumentLike, RunLike, id_of
from arena_lab.records import (
    AgreementReport,
    Annotation,
    Battle,
    Budget,
    Dataset,
    Experiment,
    Favorite,
    Instrument,
    InstrumentCard,
    InstrumentVersion,
    Ladder,
    LadderEntry,
    LogImport,
    Matrix,
    Milestone,
    Model,
    Point,
    Queue,
    Run,
    Sliced,
    UsageReport,
)
from arena_lab.retrying import Patience


class AsyncLadders:
    """Where models stand."""

    def __init__(self, line: AsyncLine) -> None:
        self._line = line

    def list(self) -> AsyncRows[LadderEntry]:
        return AsyncRows(self._line, questions.ladders())

    async def get(self, slug: str, **of: str | None) -> Ladder:
        """of: subset, category, source, language; period: "2026-11", "2026-01-15..2026-02-28" or "30d"; control:
        "style", or some of its features, with commas; combine: "corrected", or how many votes one verdict counts as;
        unseen: "1" for ratings from unseen samples, too.
        """
        return await self._line.do(questions.ladder(slug, of))

    async def agreement(self, slug: str) -> AgreementReport:
        """Each two boards of its dataset, on the same outputs."""
        return await self._line.do(questions.agreement(slug))

    async def matrix(self, slug: str, *, whole: bool = False, **of: str | None) -> Matrix:
        """whole: all contestants, and not only the first forty."""
        return await self._line.do(questions.matrix(slug, whole, of))

    async def slices(self, slug: str, *, by: str | None = None) -> Sliced:
        """by: subset, category, source, language or period; the first that has several values if omitted."""
        return await self._line.do(questions.slices(slug, by))

    async def take_milestone(self, slug: str, name: str, *, note: str = "") -> Milestone:
        """Publish it as it is now. name: words and a date, "release_20260131"."""
        return await self._line.do(questions.take_milestone(slug, name, note))

    def milestones(self, slug: str, *, version: str | None = None, date: str | None = None) -> AsyncRows[Milestone]:
        return AsyncRows(self._line, questions.milestones(slug, version, date))

    def history(self, slug: str, *, name: str | None = None) -> AsyncRows[Point]:
        return AsyncRows(self._line, questions.history(slug, name))


class AsyncDatasets:
    """Samples, and what contestants made of them."""

    def __init__(self, line: AsyncLine) -> None:
        self._line = line

    def list(self) -> AsyncRows[Dataset]:
        return AsyncRows(self._line, questions.datasets())

    async def get(self, slug: str) -> Dataset:
        return await self._line.do(questions.dataset(slug))

    async def upload(self, path: str | Path, name: str, **fields: Any) -> Dataset:
        """The platform reads it when this returns: its state says how far it is. fields: description, modality,
        visibility, columns …
        """
        with Path(path).open("rb") as file:  # noqa: ASYNC230  # it is read piece by piece, as it is sent
            return await self._line.do(questions.upload(file, str(path), {"name": name, **fields}))

    async def import_battles(self, slug: str, path: str | Path, **fields: Any) -> LogImport:
        """Battles and votes of elsewhere. fields: voter (the column that says who voted), columns (lines of
        PART=COLUMN), judge, subset, keep_partial, dry_run.
        """
        with Path(path).open("rb") as file:  # noqa: ASYNC230  # it is read piece by piece, as it is sent
            return await self._line.do(questions.import_battles(slug, file, str(path), fields))

    async def get_import(self, slug: str, which: LogImport | str) -> LogImport:
        return await self._line.do(questions.log_import(slug, which))

    async def store_import(self, slug: str, which: LogImport | str) -> LogImport:
        """Store what a dry run has reported."""
        return await self._line.do(questions.store_import(slug, which))


class AsyncInstruments:
    """Judges that people define, in versions."""

    def __init__(self, line: AsyncLine) -> None:
        self._line = line

    def list(self) -> AsyncRows[Instrument]:
        return AsyncRows(self._line, questions.instruments())

    async def get(self, instrument: InstrumentLike) -> Instrument:
        return await self._line.do(questions.instrument(instrument))

    def versions(self, instrument: InstrumentLike) -> AsyncRows[InstrumentVersion]:
        """The newest first."""
        return AsyncRows(self._line, questions.versions(instrument))

    async def save(self, title: str, definition: Mapping[str, Any], **fields: Any) -> Instrument:
        """fields: description, project, shared."""
        return await self._line.do(questions.save_instrument(title, definition, fields))

    async def revise(self, instrument: Instrument, definition: Mapping[str, Any], **fields: Any) -> Instrument:
        """A new version after the newest one that `instrument` knows of; raises Conflict where there is a newer one."""
        return await self._line.do(questions.revise_instrument(instrument, definition, fields))

    async def archive(self, instrument: InstrumentLike, *, archived: bool = True) -> Instrument:
        return await self._line.do(questions.archive_instrument(instrument, archived))

    async def export(self, instrument: InstrumentLike, number: int) -> File:
        """One version as a file, which `save` takes elsewhere."""
        return file_of(await self._line.do(questions.instrument_file(instrument, number)), "instrument.json")

    async def card(self, instrument: InstrumentLike, *, version: int | None = None) -> InstrumentCard:
        """How far a version agrees with people, the newest one without a number; its scans' rates, corrected."""
        return await self._line.do(questions.card(instrument, version))

    async def sample(self, scan: ExperimentLike, dimension: str, size: int, **fields: Any) -> Queue:
        """Send so many units of a scan to reviewers, equally many of each value of a dimension. fields: judge, seed,
        name, overlap, instructions, members (user names), project, is_lab.
        """
        return await self._line.do(questions.sample(scan, dimension, size, fields))


class AsyncFavorites:
    """Runs, boards and contestants that you marked, to find them first."""

    def __init__(self, line: AsyncLine) -> None:
        self._line = line

    def list(self) -> AsyncRows[Favorite]:
        """The latest first."""
        return AsyncRows(self._line, questions.favorites())

    async def mark(self, kind: str, key: RunLike) -> Favorite:
        """kind: run, board or contestant; key: the run or its id, the slug of a board, the name of a contestant. Twice
        is once.
        """
        return await self._line.do(questions.mark_favorite(kind, key))

    async def unmark(self, favorite: Favorite | str) -> None:
        await self._line.do(questions.unmark_favorite(favorite))


class AsyncArena:
    """The platform, as `Arena` has it, awaited."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._line = AsyncLine(find(url, token), patience or Patience(), transport)
        self.experiments, self.runs = AsyncExperiments(self._line), AsyncRuns(self._line)
        self.ladders, self.datasets = AsyncLadders(self._line), AsyncDatasets(self._line)
        self.instruments = AsyncInstruments(self._line)
        self.studies = AsyncStudies(self._line)
        self.favorites = AsyncFavorites(self._line)

    async def play(
        self,
        workflow: str,
        cast: Cast,
        config: Mapping[str, Any] | None = None,
        *,
        title: str = "",
        project: str = "",
        seed: int | None = None,
        **settings: Any,
    ) -> Run:
        """A new experiment and its run, begun at once. Battles are played in several runs, of which it is the first."""
        experiment = await self.experiments.create(workflow, cast, config, title=title, project=project, **settings)
        return (await self.experiments.start(experiment, seed=seed))[0]

    async def scan(
        self,
        version: InstrumentVersion,
        runs: Iterable[RunLike],
        cast: Cast,
        *,
        title: str = "",
        project: str = "",
        **settings: Any,
    ) -> Experiment:
        """Have an instrument measure runs, begun at once; `experiments.campaign` says how far it is. cast: models of
        `judge` and, where several judge, `judge-2` to `judge-4`. settings: again, side_by_side, limits.
        """
        config = questions.scanned(version, runs, settings)
        experiment = await self.experiments.create("scan", cast, config, title=title, project=project)
        await self.experiments.start(experiment)
        return experiment

    def annotations(self, **wanted: Any) -> AsyncRows[Annotation]:
        """wanted: run, instrument, version, experiment, dimension, judge, found, verified."""
        return AsyncRows(self._line, questions.annotations(**wanted))

    def models(self, *, available: bool | None = None) -> AsyncRows[Model]:
        """available: only those that you can ask now, or only those that you cannot."""
        return AsyncRows(self._line, questions.models(available))

    def battles(
        self, *, board: str | None = None, experiment: ExperimentLike | None = None, state: str | None = None
    ) -> AsyncRows[Battle]:
        """state: decided, open or void."""
        return AsyncRows(self._line, questions.battles(board, experiment, state))

    def budgets(self) -> AsyncRows[Budget]:
        return AsyncRows(self._line, questions.budgets())

    async def usage(
        self,
        *,
        scope: str | None = None,
        project: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> UsageReport:
        """scope: me, project (one that you lead) or lab. since, until: days, as 2026-02-28; the last thirty else."""
        return await self._line.do(questions.usage(scope, project, since, until))

    @overload
    def watch(
        self,
        run: RunLike,
        *,
        after: int = 0,
        deltas: Literal[False] = False,
        live: bool | None = None,
        on_trouble: Callable[[str, float], None] | None = None,
    ) -> AsyncIterator[Event]: ...

    @overload
    def watch(
        self,
        run: RunLike,
        *,
        after: int = 0,
        deltas: Literal[True],
        live: bool | None = None,
        on_trouble: Callable[[str, float], None] | None = None,
    ) -> AsyncIterator[Event | Delta]: ...

    async def watch(
        self,
        run: RunLike,
        *,
        after: int = 0,
        deltas: bool = False,
        live: bool | None = None,
        on_trouble: Callable[[str, float], None] | None = None,
    ) -> AsyncIterator[Any]:
        """Every event of a run from the one after `after` on, each once and in order, until the run is over.

        A connection that breaks is made again; on_trouble hears why, and after how many seconds. deltas: the words as
        they come, too, which needs the extra `live`. live False: ask for events, and open no socket.
        """
        async for item in watch(self._line, id_of(run), after=after, live=live, told=on_trouble):
            if deltas or isinstance(item, Event):
                yield item

    async def wait(self, run: RunLike) -> Run:
        """The run, once it is over."""
        async for _event in self.watch(run, live=False):
            pass
        return await self.runs.get(run)

    async def close(self) -> None:
        await self._line.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
