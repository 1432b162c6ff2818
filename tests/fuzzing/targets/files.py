"""Files that people send: datasets, runs of other systems, logs of battles."""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from experiments.library.datasets.process import Refused
from experiments.library.datasets.reader.limits import CannotRead, Limits
from experiments.library.datasets.reader.samples import Outputs, Samples, Spool
from experiments.library.datasets.reader.tree import open_tree
from experiments.library.datasets.reasons import REFUSALS
from experiments.library.datasets.records import records_in
from experiments.library.imports import reading
from experiments.library.imports.reading import HoldsDataset
from experiments.library.imports.storing import proven
from experiments.library.imports.values import Unreadable
from experiments.runs.reports import json_values
from experiments.runs.reports.json_values import InvalidDocument
from experiments.workflows.battles.campaign.logs import arenalab, genarena, lmarena
from experiments.workflows.battles.campaign.logs.records import Malformed, Record
from tests.fuzzing.target import Target

FILES = Path(__file__).parents[2] / "experiments/imports/files"
LIMITS = Limits(unpacked=16 << 20, bulk=1 << 20, taken=16 << 20)
NOBODY = -1
READERS: tuple[Callable[[Any, Spool], Any], ...] = (
    lambda tree, spool: Samples(tree, spool, {}, ""),
    lambda tree, spool: Outputs(tree, spool, {}, subsets=["", "easy"], contestant="one"),
)


class Silent(Spool):
    """Tells nobody how far it is."""

    def say(self, **said: Any) -> None:
        pass


def dataset(data: bytes, suffix: str, *, checks: bool = False) -> None:
    """As the limited process reads an upload, and the worker what it leaves behind."""
    for reader in READERS:
        with tempfile.TemporaryDirectory(prefix="fuzz-", dir=_memory()) as folder:
            path, spool = Path(folder) / f"upload{suffix}", Path(folder) / "spool"
            path.write_bytes(data)
            spool.mkdir()
            silent = Silent(spool, LIMITS, NOBODY)
            silent.given = len(data)
            try:
                reader(open_tree(path, spool, LIMITS), silent).read()
                silent.close()
            except CannotRead as refusal:
                if checks:
                    assert refusal.code in REFUSALS
                    assert str(Refused(refusal.code, **refusal.facts))
                continue
            except RecursionError:
                continue  # said as “too_deep” by the program around it
            if checks:
                assert list(records_in(spool)) or silent.warnings["empty_outputs"]


def _memory() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def dataset_target(suffix: str, words: tuple[str | bytes, ...], *seeds: bytes, names: tuple[str, ...] = ()) -> Target:
    read = partial(dataset, suffix=suffix)
    return Target(f"dataset{suffix}", read, partial(read, checks=True), words, names, seeds)


def runs(data: bytes) -> Iterator[reading.Found]:
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=_memory()) as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        with suppress(Unreadable, HoldsDataset):
            yield from reading.runs(path, "file.json")


def check_runs(data: bytes) -> None:
    """A run is there whole and could be stored, or there is a sentence that says why not."""
    for found in runs(data):
        assert (found.taken is None) == bool(found.refused)
        if found.taken:
            with suppress(InvalidDocument):
                assert len(proven(found.taken).digest) == 64


def battles(data: bytes) -> list[Record]:
    found = []
    for line in data.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            with suppress(Malformed):
                found.append(_battle(row))
    return [one for one in found if one]


def _battle(row: dict[str, Any]) -> Record | None:
    if arenalab.is_battle(row):
        return arenalab.record(row)
    if genarena.is_slim(row):
        return genarena.record(row, experiment="", subset=None)
    return lmarena.record(row) if lmarena.is_battle(row) else None


def check_battles(data: bytes) -> None:
    for one in battles(data):
        assert one.model_a != one.model_b
        assert one.winner or one.open_reason
        for call in one.calls:
            assert call.winner or call.unread_reason
            assert call.confidence is None or 0 <= call.confidence <= 1
            json.dumps(call.scores, allow_nan=False)
        assert one.task.index is None or 0 <= one.task.index < 2**31
        said = (one.model_a, one.task.question, one.task.instruction, one.judge, one.ballot, *(one.texts or ()))
        assert all("\x00" not in words for words in said)
        "".join(said).encode()


def document(data: bytes) -> Any:
    try:
        value = json_values.parse(data)
        json_values.check(value)
    except InvalidDocument as error:
        assert error.errors
        return None
    return value


def check_document(data: bytes) -> None:
    """What is taken can be written down again as it is."""
    value = document(data)
    if value is not None:
        assert json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode()) == value


def lines_of(name: str) -> tuple[bytes, ...]:
    return tuple((FILES / name).read_bytes().splitlines(keepends=True))


SEPARATED = (
    "index", "prompt", "instruction", "output_a", "model", "image", "metadata", ",", ";", "\t", "|", "\n", "\r\n",
    "\r", '"', '""', "0", "1", "2", "1.0", "-1", "9" * 12, "²", "é", b"\xff", b"\x00", b"\xef\xbb\xbf", "[", "{",
    "data:image", "/png;base64,AAAA", "http://a/b.png", "../x", "NaN", " ", "'", "=1+1", "\u2028", "\ufeff",
)  # fmt: skip
JSON = (
    "{", "}", "[", "]", '"', ":", ",", "\n", "null", "1", "1e999", "NaN", "-1", "\\u0000", "\\ud800", "true", " ",
    b"\xff",
)  # fmt: skip
OF_ROWS = (
    "index", "prompt", "instruction", "output_a", "images", "metadata", "subset", "category", "model", "text", "bytes",
)  # fmt: skip
CSV = b'index,prompt,output_a,category\n0,"How, and why?",So,x\n1,Why?,"Be\ncause",y\n'
ROW = b'{"index": 0, "prompt": "Why?", "output_a": "So", "metadata": {"a": [1]}, "images": []}\n'
OUTPUT = b'{"index": 0, "model": "one", "text": "So", "subset": "easy"}\n'
RUNS = tuple(path.read_bytes() for path in sorted(FILES.glob("*.json*")))


def names_in(*files: bytes) -> tuple[str, ...]:
    """The names that the examples use most, so that what is generated looks like them."""
    found = Counter(name for file in files for name in file.decode().split('"')[1::2] if name.isidentifier())
    return tuple(name for name, _times in found.most_common(120))


def target(name: str, read: Callable[[bytes], Any], check: Callable[[bytes], None], seeds: tuple[bytes, ...]) -> Target:
    return Target(name, read, check, JSON, names_in(*seeds), seeds)


TARGETS = (
    dataset_target(".csv", SEPARATED, CSV, CSV.replace(b",", b";")),
    dataset_target(".jsonl", JSON, ROW * 2, OUTPUT, names=OF_ROWS),
    dataset_target(".json", JSON, b"[" + ROW.strip() + b"," + ROW.replace(b"0", b"1") + b"]", OUTPUT, names=OF_ROWS),
    target("runs", check_runs, check_runs, RUNS),
    target("battles", battles, check_battles, (*lines_of("battles.jsonl"), *lines_of("genarena.jsonl"))),
    Target("document", document, check_document, JSON, ("a", "b", "messages"), RUNS[:2]),
)
