"""The limited process: takes its orders as JSON on its standard input, limits itself, reads, says how it ended."""

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any, TypedDict

from experiments.library.datasets.reader.cells import be_strict, jsonable
from experiments.library.datasets.reader.columns import columns_of, preview
from experiments.library.datasets.reader.limits import CannotRead, Limits, die_with_parent, impose, leave_network
from experiments.library.datasets.reader.samples import Outputs, Samples, Spool
from experiments.library.datasets.reader.tables import Parquet, write_parquet
from experiments.library.datasets.reader.tree import open_tree

PIPE = 1


class Orders(TypedDict, total=False):
    """path: of the file or folder to be read. spool: the folder for what is found. Of the others, what `what` needs.
    columns: the parts that are read as which column; for rows, the names of those wanted.
    """

    what: str
    path: str
    spool: str
    limits: dict[str, int]
    tables: dict[str, dict[str, str]]
    columns: Any
    subset: str
    subsets: list[str]
    contestant: str
    longest: int


def main() -> None:
    """The last line says {found} or {refused, facts}."""
    die_with_parent()
    leave_network()
    orders: Orders = json.load(sys.stdin)
    limits = Limits(**orders["limits"])
    impose(limits)
    be_strict(limits)
    spool = Spool(Path(orders["spool"]), limits, PIPE)
    try:
        found = read(orders, spool)
        spool.close()
        spool.say(found=found, warnings={code: times for code, times in spool.warnings.items() if times})
    except CannotRead as refusal:
        spool.say(refused=refusal.code, facts=refusal.facts)
    except MemoryError:
        spool.say(refused="needs_memory", facts={})
    except RecursionError:
        spool.say(refused="too_deep", facts={})
    except OSError as error:
        code = {errno.EFBIG: "too_bulky", errno.ENOSPC: "disk_full"}.get(error.errno or 0, "unreadable_file")
        spool.say(refused=code, facts={"file": Path(orders["path"]).name, "most": limits.unpacked})
    os._exit(0)  # whatever hangs on strangers' bytes is not tidied up


def read(orders: Orders, spool: Spool) -> dict[str, object]:
    """Raises CannotRead."""
    path = Path(orders["path"])
    if orders["what"] == "parquet":
        return {"rows": write_parquet(path, orders["tables"], spool.limits)}
    tree = open_tree(path, spool.folder, spool.limits)
    spool.given = path.stat().st_size if path.is_file() else sum(tree.files.values())
    if orders["what"] == "rows":
        return {"rows": _write_rows(path, spool, orders)}
    asked = orders.get("columns") or {}
    if orders["what"] == "preview":
        return preview(tree, spool.limits)
    if orders["what"] == "outputs":
        outputs = Outputs(tree, spool, asked, subsets=orders["subsets"], contestant=orders["contestant"])
        return {"columns": outputs.read()}
    return {"columns": Samples(tree, spool, asked, orders["subset"]).read()}


def _write_rows(path: Path, spool: Spool, orders: Orders) -> int:
    """The rows of a Parquet file as they are, with those of the columns asked for that there are: how many. Of a row
    with more than `longest` characters only its number is told.
    """
    table, longest = Parquet(path, path.name, spool.limits), orders["longest"]
    kept = [column.name for column in columns_of(table, spool.limits) if column.name in orders["columns"]]
    number = 0
    for number, row in enumerate(table.rows(kept) if kept else (), 1):
        content = None
        if sum(len(value) for value in row.values() if isinstance(value, str)) <= longest:
            content = {name: jsonable(value) for name, value in row.items()}
            content = content if len(json.dumps(content, ensure_ascii=False)) <= longest else None
        spool.add("row", number=number, content=content)
        spool.progress(table.share)
    return number
