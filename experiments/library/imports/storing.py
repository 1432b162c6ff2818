"""Runs that a reader found are stored as our own documents are, each with where it comes from, and each once. What an
import found and did is its report, for its page and the API.
"""

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.errors import Forbidden
from experiments.library.imports import own
from experiments.library.imports.values import Taken
from experiments.models import ImportedRun, Run, RunImport
from experiments.models.imports import ImportSource
from experiments.runs.reports import json_values
from experiments.runs.reports.importing import import_document, prepared

if TYPE_CHECKING:
    from accounts.models import User

SECRET = re.compile(r"api_?-?key|authorization|password|secret|bearer|access_?-?token", re.IGNORECASE)
OUTCOME_NEW, OUTCOME_KNOWN, OUTCOME_STORED = "new", "known", "stored"
MOST_SHOWN = 100  # runs and refusals of a report


class File(NamedTuple):
    """Where runs come from. brought_by: the import that a worker does, None for a document that came by itself."""

    name: str
    sha256: str
    brought_by: RunImport | None = None


def store_report(document: Any, *, name: str, by: "User") -> tuple[Run, bool]:
    """A run's report in JSON, that came by itself. Raises Forbidden and InvalidDocument."""
    if not isinstance(document, dict):
        prepared(document)
    json_values.check(document)
    file = File(name, sha256_of(document))
    return store(own.read(document), source=ImportSource.OWN, file=file, by=by)


def proven(taken: Taken) -> Taken:
    """What can be stored, without secrets. Raises InvalidDocument."""
    json_values.check(taken.kept)
    cleaned = replace(taken, kept=without_secrets(taken.kept))
    prepared(cleaned.document)
    return cleaned


def known(taken: Taken, *, by: "User") -> Run | None:
    """The run that was made of the same before, and is still there."""
    row = ImportedRun.objects.filter(owner=by, digest=taken.digest).select_related("run__experiment").first()
    return row.run if row else None


def store(taken: Taken, *, source: ImportSource, file: File, by: "User") -> tuple[Run, bool]:
    """The run, and whether it is new. Raises Forbidden and InvalidDocument."""
    if not by.may_experiment:
        raise Forbidden(_("Your role does not allow imports. Ask an administrator for the role of researcher."))
    json_values.check(taken.document)
    json_values.check(taken.kept)
    if before := known(taken, by=by):
        return before, False
    taken = proven(taken)
    try:
        with transaction.atomic():
            run = import_document(taken.document, by=by)
            ImportedRun.objects.create(
                run=run,
                owner=by,
                brought_by=file.brought_by,
                source=source,
                file_name=file.name[-300:],
                file_sha256=file.sha256,
                place=taken.place[-300:],
                digest=taken.digest,
                notes=list(taken.notes),
                kept=taken.kept,
            )
    except IntegrityError:
        if rival := known(taken, by=by):
            return rival, False
        raise
    return run, True


def sha256_of(value: Any) -> str:
    """Of a document that came without a file, in its canonical form."""
    told = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()


def without_secrets(value: Any) -> Any:
    """Keys that somebody's file holds do not go into the database."""
    if isinstance(value, dict):
        return {name: without_secrets(item) for name, item in value.items() if not SECRET.search(name)}
    return [without_secrets(item) for item in value] if isinstance(value, list) else value


@dataclass(slots=True)
class Report:
    """found: runs that can be stored. known: of them those that were imported before. stored: new ones. refused: places
    of the file of which no run can be made. notes: what was not taken at its word, with how many runs it concerns.
    """

    found: int = 0
    known: int = 0
    stored: int = 0
    refused: int = 0
    messages: int = 0
    sources: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    runs: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[dict[str, str]] = field(default_factory=list)

    def refuse(self, place: str, reason: str) -> None:
        self.refused += 1
        if len(self.refusals) < MOST_SHOWN:
            self.refusals.append({"place": place[:300], "reason": reason[:600]})

    def add(self, source: str, taken: Taken, run: Run | None, outcome: str) -> None:
        messages = len(taken.document.get("messages") or [])
        self.found += 1
        self.sources[source] += 1
        self.messages += messages
        self.notes.update(taken.notes)
        self.known += outcome == OUTCOME_KNOWN
        self.stored += outcome == OUTCOME_STORED
        if len(self.runs) >= MOST_SHOWN:
            return
        experiment = taken.document.get("experiment") or {}
        self.runs.append({
            "place": taken.place[:300],
            "title": str(experiment.get("title", ""))[:200],
            "workflow": str(experiment.get("workflow", "")),
            "models": sorted({str(one.get("model", "")) for one in experiment.get("cast") or []})[:20],
            "messages": messages,
            "judgments": len(taken.document.get("judgments") or []),
            "notes": list(taken.notes),
            "kept": bool(taken.kept),
            "outcome": outcome,
            "run": str(run.pk) if run else None,
        })  # fmt: skip

    @property
    def source(self) -> str:
        """Whose file it is for the most part."""
        return max(self.sources, key=lambda name: self.sources[name], default="")

    def as_json(self) -> dict[str, object]:
        return {
            **{name: getattr(self, name) for name in ("found", "known", "stored", "refused", "messages", "runs")},
            "refusals": self.refusals,
            "sources": dict(self.sources),
            "notes": [{"note": note, "runs": count} for note, count in self.notes.most_common()],
        }
