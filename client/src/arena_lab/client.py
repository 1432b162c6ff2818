"""The client, for programs that wait for their answers."""

from collections.abc import Callable, Iterable, Iterator, Mapping
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
from arena_lab.studies import Studies
from arena_lab.verbs import Experiments, Runs
from arena_lab.watching import watch


class Ladders:
    """Where models stand."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def list(self) -> Rows[LadderEntry]:
        return Rows(self._line, questions.ladders())

    def get(self, slug: str, **of: str | None) -> Ladder:
        """of: subset, category, source, language; period: "2026-11", "2026-01-15..2026-02-28" or "30d"; control:
        "style", or some of its features, with commas; combine: "corrected", or how many votes one verdict counts as;
        unseen: "1" for ratings from unseen samples, too.
        """
        return self._line.do(questions.ladder(slug, of))

    def agreement(self, slug: str) -> AgreementReport:
        """Each two boards of its dataset, on the same outputs."""
        return self._line.do(questions.agreement(slug))

    def matrix(self, slug: str, *, whole: bool = False, **of: str | None) -> Matrix:
        """whole: all contestants, and not only the first forty."""
        return self._line.do(questions.matrix(slug, whole, of))

    def slices(self, slug: str, *, by: str | None = None) -> Sliced:
        """by: subset, category, source, language or period; the first that has several values if omitted."""
        return self._line.do(questions.slices(slug, by))

    def take_milestone(self, slug: str, name: str, *, note: str = "") -> Milestone:
        """Publish it as it is now. name: words and a date, "release_20260131"."""
        return self._line.do(questions.take_milestone(slug, name, note))

    def milestones(self, slug: str, *, version: str | None = None, date: str | None = None) -> Rows[Milestone]:
        return Rows(self._line, questions.milestones(slug, version, date))

    def history(self, slug: str, *, name: str | None = None) -> Rows[Point]:
        return Rows(self._line, questions.history(slug, name))


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

    def import_battles(self, slug: str, path: str | Path, **fields: Any) -> LogImport:
        """Battles and votes of elsewhere. fields: voter (the column that says who voted), columns (lines of
        PART=COLUMN), judge, subset, keep_partial, dry_run.
        """
        with Path(path).open("rb") as file:
            return self._line.do(questions.import_battles(slug, file, str(path), fields))

    def get_import(self, slug: str, which: LogImport | str) -> LogImport:
        return self._line.do(questions.log_import(slug, which))

    def store_import(self, slug: str, which: LogImport | str) -> LogImport:
        """Store what a dry run has reported."""
        return self._line.do(questions.store_import(slug, which))


class Instruments:
    """Judges that people define, in versions."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def list(self) -> Rows[Instrument]:
        return Rows(self._line, questions.instruments())

    def get(self, instrument: InstrumentLike) -> Instrument:
        return self._line.do(questions.instrument(instrument))

    def versions(self, instrument: InstrumentLike) -> Rows[InstrumentVersion]:
        """The newest first."""
        return Rows(self._line, questions.versions(instrument))

    def save(self, title: str, definition: Mapping[str, Any], **fields: Any) -> Instrument:
        """fields: description, project, shared."""
        return self._line.do(questions.save_instrument(title, definition, fields))

    def revise(self, instrument: Instrument, definition: Mapping[str, Any], **fields: Any) -> Instrument:
        """A new version after the newest one that `instrument` knows of; raises Conflict where there is a newer one."""
        return self._line.do(questions.revise_instrument(instrument, definition, fields))

    def archive(self, instrument: InstrumentLike, *, archived: bool = True) -> Instrument:
        return self._line.do(questions.archive_instrument(instrument, archived))

    def export(self, instrument: InstrumentLike, number: int) -> File:
        """One version as a file, which `save` takes elsewhere."""
        return file_of(self._line.do(questions.instrument_file(instrument, number)), "instrument.json")

    def card(self, instrument: InstrumentLike, *, version: int | None = None) -> InstrumentCard:
        """How far a version agrees with people, the newest one without a number; its scans' rates, corrected."""
        return self._line.do(questions.card(instrument, version))

    def sample(self, scan: ExperimentLike, dimension: str, size: int, **fields: Any) -> Queue:
        """Send so many units of a scan to reviewers, equally many of each value of a dimension. fields: judge, seed,
        name, overlap, instructions, members (user names), project, is_lab.
        """
        return self._line.do(questions.sample(scan, dimension, size, fields))


class Favorites:
    """Runs, boards and contestants that you marked, to find them first."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def list(self) -> Rows[Favorite]:
        """The latest first."""
        return Rows(self._line, questions.favorites())

    def mark(self, kind: str, key: RunLike) -> Favorite:
        """kind: run, board or contestant; key: the run or its id, the slug of a board, the name of a contestant. Twice
        is once.
        """
        return self._line.do(questions.mark_favorite(kind, key))

    def unmark(self, favorite: Favorite | str) -> None:
        self._line.do(questions.unmark_favorite(favorite))


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
        self.instruments = Instruments(self._line)
        self.studies = Studies(self._line)
        self.favorites = Favorites(self._line)

    def play(
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
        experiment = self.experiments.create(workflow, cast, config, title=title, project=project, **settings)
        return (self.experiments.start(experiment, seed=seed))[0]

    def scan(
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
        experiment = self.experiments.create("scan", cast, config, title=title, project=project)
        self.experiments.start(experiment)
        return experiment

    def annotations(self, **wanted: Any) -> Rows[Annotation]:
        """wanted: run, instrument, version, experiment, dimension, judge, found, verified."""
        return Rows(self._line, questions.annotations(**wanted))

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
