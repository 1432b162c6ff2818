"""A study as a folder that recomputes: its data, its plan, its results, and the code that leads from these to those."""

import csv
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.models import StudyLook
from experiments.runs.zipping import entry, zipped
from leaderboard import ratings
from leaderboard.ratings.studies import labeled, table
from leaderboard.ratings.studies.analysis import Plan

RECOMPUTE = Path(__file__).parent / "files" / "recompute.py"
CODE = Path(ratings.__file__).parent.parent
TYPES = {"text": "VARCHAR", "number": "DOUBLE", "flag": "BOOLEAN"}
READERS: Mapping[str, Callable[[str], object]] = {"text": str, "number": float, "flag": "1".__eq__}


def folder(look: StudyLook) -> Iterator[bytes]:
    """The zip in pieces: what the look saw, as it saw it."""
    plan = Plan.read(look.analyzed)
    files: dict[str, str | bytes] = {
        "data.csv": look.data,
        "data.parquet": _parquet(plan, look.data),
        **({"labels.csv": look.labels} if look.labels else {}),
        "dictionary.csv": _dictionary(plan, has_labels=bool(look.labels)),
        "plan.json": _json(look.analyzed),
        "plans.json": _json([_plan(one) for one in look.study.plans.select_related("by")]),
        "design.json": _json(look.study.design),
        "results.json": _json(look.results),
        "recompute.py": RECOMPUTE.read_text(encoding="utf-8"),
        "requirements.txt": f"numpy=={np.__version__}\n",
        **{f"leaderboard/{path.relative_to(CODE)}": path.read_text(encoding="utf-8") for path in _code()},
    }

    def write(archive: zipfile.ZipFile) -> Iterator[None]:
        for name, content in files.items():
            archive.writestr(entry(f"study/{name}", look.created), content)
            yield

    return zipped(write)


def _parquet(plan: Plan, data: str) -> bytes:
    """The same rows and columns with their types. What is empty there is null here."""
    from experiments.library.datasets.reader.limits import Limits  # noqa: PLC0415 - DuckDB is loaded where it is used
    from experiments.library.datasets.reader.tables import write_parquet  # noqa: PLC0415

    kinds = table.kinds(plan)
    with tempfile.TemporaryDirectory() as place, Path(place, "data.jsonl").open("w", encoding="utf-8") as lines:
        for row in csv.DictReader(io.StringIO(data)):
            cells = {name: READERS[kinds[name]](cell) if cell else None for name, cell in row.items()}
            lines.write(json.dumps(cells) + "\n")
        lines.flush()
        write_parquet(Path(place), {"data": {name: TYPES[kind] for name, kind in kinds.items()}}, Limits())
        return Path(place, "data.parquet").read_bytes()


def _code() -> list[Path]:
    return [CODE / "__init__.py", *sorted((CODE / "ratings").rglob("*.py"))]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _plan(one: Any) -> dict[str, Any]:
    return {
        "number": one.number,
        "digest": one.digest,
        "locked": one.created.isoformat(),
        "by": one.by.get_username(),
        "reason": one.reason,
        "runs_seen": one.runs_seen,
        "plan": one.content,
    }


def _dictionary(plan: Plan, *, has_labels: bool) -> str:
    text = io.StringIO()
    of_labels = [(f"labels.csv: {name}", meaning) for name, meaning in labeled.COLUMNS.items() if has_labels]
    csv.writer(text, lineterminator="\n").writerows([("column", "meaning"), *table.columns(plan), *of_labels])
    return text.getvalue()
