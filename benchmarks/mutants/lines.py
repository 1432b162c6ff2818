"""Which fast test runs which line: measured once per test module, and kept until the module, or a file that its tests
run, changes. What else they use may change meanwhile: then a test is tried for nothing, or is not tried.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from time import process_time
from typing import Any

import coverage

from benchmarks.mutants.trials import SURVIVED, Session, caches_of, in_fork, own_files

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".pytest_cache" / "mutants"
PARTS = 16


@dataclass
class Module:
    """seconds: of processor time, of each test; None where it failed or was skipped. lines: by file and line, the
    numbers of the tests that run it.
    """

    seconds: dict[str, float | None] = field(default_factory=dict)
    lines: dict[str, dict[int, list[int]]] = field(default_factory=dict)


class Lines:
    def __init__(self, modules: Sequence[str]) -> None:
        self.modules = {module: found for module in modules if (found := self._read(module))}
        self.missing = [module for module in modules if module not in self.modules]

    @property
    def failing(self) -> list[str]:
        """Tests that do not pass as the code is, or are left out on this machine."""
        return [test for module in self.modules.values() for test, cost in module.seconds.items() if cost is None]

    def covering(self, file: str, line: int) -> dict[str, float]:
        """The passing tests that run the line, and the processor seconds of each."""
        found: dict[str, float] = {}
        for module in self.modules.values():
            tests = list(module.seconds.items())
            running = [tests[number] for number in module.lines.get(file, {}).get(line, ())]
            found |= {test: seconds for test, seconds in running if seconds is not None}
        return found

    def measure(self, session: Session, files: Sequence[str]) -> None:
        """Raises RuntimeError when tests break the process that runs them."""
        tests: dict[str, list[str]] = {module: [] for module in self.missing}
        for nodeid in session.items:
            tests.setdefault(nodeid.split("::")[0], []).append(nodeid)
        parts = [self.missing[number::PARTS] for number in range(min(PARTS, len(self.missing)))]
        for done, part in enumerate(parts, 1):
            status = in_fork(partial(self._measure_modules, session, {name: tests[name] for name in part}, files))
            if status != SURVIVED:
                raise RuntimeError(f"one of these ended the process that ran them ({status}): {part}")
            print(f"  {done} of {len(parts)} parts of the tests measured", flush=True)
        self.modules |= {module: found for module in self.missing if (found := self._read(module))}
        self.missing = []

    def _measure_modules(self, session: Session, tests: dict[str, list[str]], files: Sequence[str]) -> int:
        caches = caches_of(set(files))
        watching = coverage.Coverage(data_file=None, include=list(files), config_file=False, messages=False)
        with own_files():
            watching.start()
            for module, nodeids in tests.items():
                self._write(module, _measured(session, module, nodeids, watching, caches))
            watching.stop()
        return SURVIVED

    def _read(self, module: str) -> Module | None:
        place = _place(module)
        stored = json.loads(gzip.decompress(place.read_bytes())) if place.exists() else {}
        if not stored or stored["digest"] != digest_of([module, *stored["lines"]]):
            return None
        lines = {file: {int(line): tests for line, tests in of.items()} for file, of in stored["lines"].items()}
        return Module(stored["seconds"], lines)

    def _write(self, module: str, found: Module) -> None:
        place = _place(module)
        KEPT.mkdir(parents=True, exist_ok=True)
        stored = {"digest": digest_of([module, *found.lines]), **vars(found)}
        unfinished = place.with_suffix(".new")
        unfinished.write_bytes(gzip.compress(json.dumps(stored).encode(), 5))
        unfinished.rename(place)


def digest_of(files: Iterable[str]) -> str:
    """Of what the files say; one that is gone says nothing."""
    content = hashlib.sha256()
    for file in sorted(files):
        path = ROOT / file
        content.update(file.encode() + (path.read_bytes() if path.exists() else b""))
    return content.hexdigest()


def _place(module: str) -> Path:
    return KEPT / f"{module.replace('/', '.')}.gz"


def _measured(
    session: Session, module: str, nodeids: Sequence[str], watching: coverage.Coverage, caches: Sequence[Any]
) -> Module:
    found = Module()
    for nodeid, following in zip_longest(nodeids, nodeids[1:]):
        for cache in caches:
            cache.cache_clear()
        watching.switch_context(nodeid)
        begun = process_time()
        outcomes = session.run(session.items[nodeid], session.items[following] if following else None)
        found.seconds[nodeid] = round(process_time() - begun, 3) if outcomes == {"passed"} else None
    watching.switch_context("")
    data, numbers = watching.get_data(), {nodeid: number for number, nodeid in enumerate(nodeids)}
    data.set_query_contexts([f"^{re.escape(module)}::"])
    for file in data.measured_files():
        running = data.contexts_by_lineno(file)
        of_tests = {line: [numbers[test] for test in tests if test in numbers] for line, tests in running.items()}
        found.lines[str(Path(file).relative_to(ROOT))] = {line: tests for line, tests in of_tests.items() if tests}
    return found
