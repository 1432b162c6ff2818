"""What the process does: takes its orders, limits itself, reads, says how it ended."""

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any, TypedDict

from experiments.library.datasets.reader.errors import CannotRead
from experiments.library.datasets.reader.limits import Limits, die_with_parent, impose, leave_network
from experiments.library.datasets.reader.outputs import Outputs
from experiments.library.datasets.reader.parquet import write_parquet
from experiments.library.datasets.reader.pictures import prepare
from experiments.library.datasets.reader.preview import preview
from experiments.library.datasets.reader.rows import write_rows
from experiments.library.datasets.reader.samples import Samples
from experiments.library.datasets.reader.spool import Spool
from experiments.library.datasets.reader.trees import open_tree

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
    prepare(limits)
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
        return {"rows": write_rows(path, spool, orders["columns"], orders["longest"])}
    asked = orders.get("columns") or {}
    if orders["what"] == "preview":
        return preview(tree, spool.limits)
    if orders["what"] == "outputs":
        outputs = Outputs(tree, spool, asked, subsets=orders["subsets"], contestant=orders["contestant"])
        return {"columns": outputs.read()}
    return {"columns": Samples(tree, spool, asked, orders["subset"]).read()}
