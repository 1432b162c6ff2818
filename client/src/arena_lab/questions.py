"""Everything that the client can ask, once for both of its faces."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import httpx

from arena_lab import asking
from arena_lab.asking import Ask, Page
from arena_lab.errors import NothingOpen
from arena_lab.events import Event, read_event
from arena_lab.records import (
    AgreementReport,
    Annotation,
    Ballot,
    Battle,
    Budget,
    Call,
    Campaign,
    Dataset,
    Execution,
    Experiment,
    Favorite,
    Instrument,
    InstrumentCard,
    InstrumentVersion,
    Judgment,
    Ladder,
    LadderEntry,
    LogImport,
    Matrix,
    Message,
    Milestone,
    Model,
    Pause,
    Point,
    Queue,
    Record,
    Run,
    Sliced,
    UsageReport,
)

ROWS = 200  # of a page
Cast = Mapping[str, str | Mapping[str, Any]]
RunLike = Run | str
ExperimentLike = Experiment | str
InstrumentLike = Instrument | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Started(Record):
    """What a start gives."""

    runs: tuple[Run, ...]


def id_of(thing: Run | Experiment | Message | Record | str) -> str:
    return thing if isinstance(thing, str) else str(getattr(thing, "id"))  # noqa: B009  # every such record has one


# --- experiments ---


def create(workflow: str, cast: Cast, config: Mapping[str, Any], *, title: str, project: str) -> Ask[Experiment]:
    seats = {seat: {"model": model} if isinstance(model, str) else dict(model) for seat, model in cast.items()}
    body = {"workflow": workflow, "title": title, "config": dict(config), "cast": seats}
    return asking.post("experiments/", Experiment, body | ({"project": project} if project else {}))


def start(experiment: ExperimentLike, *, repeats: int, seed: int | None, key: str | None) -> Ask[Started]:
    return asking.spend(f"experiments/{id_of(experiment)}/start/", Started, {"repeats": repeats, "seed": seed}, key)


def experiments(workflow: str | None) -> Ask[Page[Experiment]]:
    return asking.get_page("experiments/", Experiment.read, workflow=workflow, page_size=ROWS)


def experiment(which: ExperimentLike) -> Ask[Experiment]:
    return asking.get(f"experiments/{id_of(which)}/", Experiment)


def campaign(which: ExperimentLike) -> Ask[Campaign]:
    return asking.get(f"experiments/{id_of(which)}/campaign/", Campaign)


def stop_campaign(which: ExperimentLike) -> Ask[Campaign]:
    return asking.post(f"experiments/{id_of(which)}/stop/", Campaign, is_repeatable=True)


# --- runs ---


def runs(
    experiment: ExperimentLike | None, workflow: str | None, state: str | None, search: str | None
) -> Ask[Page[Run]]:
    of = None if experiment is None else id_of(experiment)
    return asking.get_page(
        "runs/", Run.read, experiment=of, workflow=workflow, state=state, search=search, page_size=ROWS
    )


def run(which: RunLike) -> Ask[Run]:
    return asking.get(f"runs/{id_of(which)}/", Run)


def messages(which: RunLike) -> Ask[Page[Message]]:
    return asking.get_page(f"runs/{id_of(which)}/messages/", Message.read, page_size=ROWS)


def judgments(which: RunLike) -> Ask[Page[Judgment]]:
    return asking.get_page(f"runs/{id_of(which)}/judgments/", Judgment.read, page_size=ROWS)


def ballots(which: RunLike) -> Ask[Page[Ballot]]:
    return asking.get_page(f"runs/{id_of(which)}/ballots/", Ballot.read, page_size=ROWS)


def battles_of(which: RunLike) -> Ask[Page[Battle]]:
    return asking.get_page(f"runs/{id_of(which)}/battles/", Battle.read, page_size=ROWS)


def executions(which: RunLike) -> Ask[Page[Execution]]:
    return asking.get_page(f"runs/{id_of(which)}/executions/", Execution.read, page_size=ROWS)


def calls(which: RunLike) -> Ask[Page[Call]]:
    return asking.get_page(f"runs/{id_of(which)}/calls/", Call.read, page_size=ROWS)


def events(which: RunLike, after: int) -> Ask[Page[Event]]:
    return asking.get_page(f"runs/{id_of(which)}/events/", read_event, after=after, page_size=ROWS)


def say(which: RunLike, action: str, text: str, at: str, key: str | None) -> Ask[Run]:
    return asking.spend(f"runs/{id_of(which)}/say/", Run, {"key": at, "action": action, "text": text}, key)


def stop(which: RunLike) -> Ask[Run]:
    return asking.post(f"runs/{id_of(which)}/stop/", Run, is_repeatable=True)


def pause(which: RunLike) -> Ask[Run]:
    return asking.post(f"runs/{id_of(which)}/pause/", Run)


def resume(which: RunLike, key: str | None) -> Ask[Run]:
    return asking.spend(f"runs/{id_of(which)}/resume/", Run, {}, key)


def branch(message: Message | str, text: str | None, key: str | None) -> Ask[Run]:
    return asking.spend(f"messages/{id_of(message)}/branch/", Run, {"text": text}, key)


def report(which: RunLike, format_: str) -> Ask[httpx.Response]:
    return asking.get_file(f"runs/{id_of(which)}/report/", format=format_)


def artifacts(which: RunLike) -> Ask[httpx.Response]:
    return asking.get_file(f"runs/{id_of(which)}/artifacts/")


def export(which: RunLike, format_: str) -> Ask[httpx.Response]:
    return asking.get_file(f"runs/{id_of(which)}/export/", format=format_)


def open_pause(run: Run) -> Pause:
    """Where something may be said now. Raises NothingOpen."""
    found = run.waiting_for or run.offer
    if found is None or not found.key:
        raise NothingOpen(f"The run waits for nobody: it is {'paused' if run.is_held else run.state}.")
    return found


# --- the lab ---


def models(available: bool | None) -> Ask[Page[Model]]:
    wanted = None if available is None else str(available).lower()
    return asking.get_page("models/", Model.read, available=wanted, page_size=ROWS)


def battles(board: str | None, experiment: ExperimentLike | None, state: str | None) -> Ask[Page[Battle]]:
    of = None if experiment is None else id_of(experiment)
    return asking.get_page("battles/", Battle.read, board=board, experiment=of, state=state, page_size=ROWS)


def ladders() -> Ask[Page[LadderEntry]]:
    return asking.get_page("ladders/", LadderEntry.read, page_size=ROWS)


def ladder(slug: str, of: Mapping[str, str | None]) -> Ask[Ladder]:
    return asking.get(f"ladders/{slug}/", Ladder, **of)


def agreement(slug: str) -> Ask[AgreementReport]:
    return asking.get(f"ladders/{slug}/agreement/", AgreementReport)


def matrix(slug: str, whole: bool, of: Mapping[str, str | None]) -> Ask[Matrix]:
    return asking.get(f"ladders/{slug}/matrix/", Matrix, **of, **({"all": "true"} if whole else {}))


def slices(slug: str, by: str | None) -> Ask[Sliced]:
    return asking.get(f"ladders/{slug}/slices/", Sliced, by=by)


def take_milestone(slug: str, name: str, note: str) -> Ask[Milestone]:
    return asking.post(f"ladders/{slug}/milestones/", Milestone, {"name": name, "note": note})


def milestones(slug: str, version: str | None, date: str | None) -> Ask[Page[Milestone]]:
    return asking.get_page(f"ladders/{slug}/milestones/", Milestone.read, version=version, date=date, page_size=ROWS)


def history(slug: str, name: str | None) -> Ask[Page[Point]]:
    return asking.get_page(f"ladders/{slug}/history/", Point.read, name=name, page_size=ROWS)


def instruments() -> Ask[Page[Instrument]]:
    return asking.get_page("instruments/", Instrument.read, page_size=ROWS)


def instrument(which: InstrumentLike) -> Ask[Instrument]:
    return asking.get(f"instruments/{id_of(which)}/", Instrument)


def versions(which: InstrumentLike) -> Ask[Page[InstrumentVersion]]:
    return asking.get_page(f"instruments/{id_of(which)}/versions/", InstrumentVersion.read, page_size=ROWS)


def save_instrument(title: str, definition: Mapping[str, Any], fields: Mapping[str, Any]) -> Ask[Instrument]:
    return asking.post("instruments/", Instrument, {"title": title, "definition": dict(definition), **fields})


def revise_instrument(which: Instrument, definition: Mapping[str, Any], fields: Mapping[str, Any]) -> Ask[Instrument]:
    body = {"version": which.newest.number, "definition": dict(definition), **fields}
    return asking.post(f"instruments/{which.id}/versions/", Instrument, body)


def archive_instrument(which: InstrumentLike, archived: bool) -> Ask[Instrument]:
    return asking.post(f"instruments/{id_of(which)}/archive/", Instrument, {"archived": archived}, is_repeatable=True)


def instrument_file(which: InstrumentLike, number: int) -> Ask[httpx.Response]:
    return asking.get_file(f"instruments/{id_of(which)}/versions/{number}/export/")


def card(which: InstrumentLike, version: int | None) -> Ask[InstrumentCard]:
    return asking.get(f"instruments/{id_of(which)}/card/", InstrumentCard, version=version)


def sample(scan: ExperimentLike, dimension: str, size: int, fields: Mapping[str, Any]) -> Ask[Queue]:
    body = {"scan": id_of(scan), "dimension": dimension, "size": size, **fields}
    return asking.post("review/samples/", Queue, body)


def annotations(**wanted: Any) -> Ask[Page[Annotation]]:
    said = {name: id_of(value) if isinstance(value, Record) else value for name, value in wanted.items()}
    said |= {name: str(value).lower() for name, value in said.items() if isinstance(value, bool)}
    return asking.get_page("annotations/", Annotation.read, page_size=ROWS, **said)


def scanned(version: InstrumentVersion, runs: Iterable[RunLike], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of a scan."""
    frozen = {"version": version.id, "definition": dict(version.definition)}
    return {**frozen, "runs": [id_of(run) for run in runs], **settings}


def datasets() -> Ask[Page[Dataset]]:
    return asking.get_page("datasets/", Dataset.read, page_size=ROWS)


def dataset(slug: str) -> Ask[Dataset]:
    return asking.get(f"datasets/{slug}/", Dataset)


def upload(file: BinaryIO, name: str, fields: Mapping[str, Any]) -> Ask[Dataset]:
    """fields: those of a form, so that what is not text is written as JSON."""
    ask = asking.post("datasets/", Dataset)
    said = {key: value if isinstance(value, str) else json.dumps(value) for key, value in fields.items()}
    return Ask("POST", ask.path, ask.read, data=said, files={"file": (Path(name).name, file)}, is_repeatable=False)


def import_battles(slug: str, file: BinaryIO, name: str, fields: Mapping[str, Any]) -> Ask[LogImport]:
    """Sending the same file again changes nothing."""
    ask = asking.post(f"datasets/{slug}/battles/", LogImport)
    said = {key: json.dumps(value) if isinstance(value, bool) else value for key, value in fields.items()}
    return Ask("POST", ask.path, ask.read, data=said, files={"file": (Path(name).name, file)}, is_repeatable=False)


def log_import(slug: str, which: LogImport | str) -> Ask[LogImport]:
    return asking.get(f"datasets/{slug}/battles/imports/{id_of(which)}/", LogImport)


def store_import(slug: str, which: LogImport | str) -> Ask[LogImport]:
    return asking.post(f"datasets/{slug}/battles/imports/{id_of(which)}/store/", LogImport)


def budgets() -> Ask[Page[Budget]]:
    return asking.get_page("budgets/", Budget.read)


def usage(scope: str | None, project: str | None, since: str | None, until: str | None) -> Ask[UsageReport]:
    return asking.get("usage/", UsageReport, scope=scope, project=project, since=since, until=until)


def favorites() -> Ask[Page[Favorite]]:
    return asking.get_page("favorites/", Favorite.read, page_size=ROWS)


def mark_favorite(kind: str, key: RunLike) -> Ask[Favorite]:
    body = {"kind": kind, "key": id_of(key)}
    return asking.post("favorites/", Favorite, body, is_repeatable=True)


def unmark_favorite(favorite: Favorite | str) -> Ask[None]:
    return asking.delete(f"favorites/{id_of(favorite)}/")
