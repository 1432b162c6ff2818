"""Our own files: reports in JSON, bulk exports with a report on each line, and the lines of one run's export."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from experiments.engine.projections import listed_writers
from experiments.library.imports.values import Data, Taken, mapping

CORE = {"message": "messages", "judgment": "judgments", "call": "calls"}
PASSED_OVER = ("event", "intervention", "annotation")  # made again from the rest
OF_RUN = ("state", "seed", "mode", "overrides", "turn", "stop_reason", "error", "created", "started", "ended")


def _kinds() -> dict[str, str]:
    """The lists of a document, by the kinds of lines."""
    return CORE | {listed.line: listed.name for listed, _writer in listed_writers()}


def is_document(value: Any) -> bool:
    said = mapping(value)
    return "report_version" in said and "run" in said and "messages" in said


def is_line(value: Any) -> bool:
    """Whether it is a line of the export of one run."""
    said = mapping(value)
    return said.get("kind") in {"run", *_kinds(), *PASSED_OVER} and "run" in said


def is_bare_message(value: Any) -> bool:
    """A line of the export of messages alone: there is no run to be made of it."""
    said = mapping(value)
    return {"run", "experiment", "workflow", "seat", "raw_text"} <= set(said) and "kind" not in said


def read(value: Any, place: str = "") -> Taken:
    document = dict(mapping(value))
    return Taken(place, document, identity=_identity(document))


def _identity(document: Data) -> Any:
    """What was said and found in which run: who may see it and what followed from it change from export to export."""
    run = mapping(document.get("run"))
    found = [listed.name for listed, _writer in listed_writers() if listed.step]
    return [run.get("id"), run.get("state"), *(document.get(name) for name in ("messages", "judgments", *found))]


class Lines:
    """A run whose record comes line by line; the line that begins with kind `run` is the first."""

    def __init__(self, head: Mapping[str, Any], place: str) -> None:
        self.place, self.id = place, head.get("run")
        self.head = head
        self.kinds = _kinds()
        self.rows: dict[str, list[Data]] = {name: [] for name in self.kinds.values()}

    def add(self, said: Mapping[str, Any]) -> str:
        """Why it cannot be added, or nothing."""
        if said.get("run") != self.id:
            return _("This line belongs to another run than the lines before.")
        row = {name: item for name, item in said.items() if name not in ("kind", "run")}
        kind = str(said["kind"])
        if kind in self.kinds:
            self.rows[self.kinds[kind]].append(row)
        return ""

    def taken(self) -> Taken:
        run = {name: self.head[name] for name in OF_RUN if self.head.get(name) is not None}
        beside = {listed.name: self.rows[listed.name] for listed, _writer in listed_writers() if listed.needs_steps}
        document: Data = {
            "report_version": self.head.get("report_version"),
            "run": run,
            "experiment": self.head.get("experiment"),
            "lineage": self.head.get("lineage") or {},
            **{name: [] if name in beside else rows for name, rows in self.rows.items()},
        }
        kept: Data = {name: rows for name, rows in beside.items() if rows}
        said = _("The sandbox's results were kept beside the run: these lines do not name their step.")
        notes = (said,) if kept else ()
        identity = _identity({**document, "run": {"id": self.id, **run}})
        return Taken(self.place, document, notes, kept, identity)
