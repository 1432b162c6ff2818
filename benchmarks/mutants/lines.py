"""Which fast test runs which line: measured once per test module, and kept until the code or the module changes."""

import gzip
import hashlib
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from time import process_time

import coverage

from benchmarks.mutants.trials import SURVIVED, Session, forked, own_files

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".pytest_cache" / "mutants"
KILLERS = KEPT / "killers.json"
APPS = ("accounts", "arenasite", "experiments", "leaderboard")
FORKS = 16


@dataclass
class Module:
    """seconds: of processor time, of each test; None where it failed or was skipped. lines: by file and line, the
    numbers of the tests that run it.
    """

    seconds: dict[str, float | None] = field(default_factory=dict)
    lines: dict[str, dict[int, list[int]]] = field(default_factory=dict)


class Lines:
    def __init__(self, modules: Sequence[str]) -> None:
        self._common = _digest_of_code()
        self.modules = {module: found for module in modules if (found := self._read(module))}
        self.missing = [module for module in modules if module not in self.modules]
        self.killers: dict[str, str] = json.loads(KILLERS.read_text()) if KILLERS.exists() else {}

    def keep_killers(self, tests: dict[str, str]) -> None:
        """The tests that noticed changes, to be tried first the next time."""
        KILLERS.write_text(json.dumps(self.killers | tests))

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
        parts = [self.missing[number::FORKS] for number in range(min(FORKS, len(self.missing)))]
        tasks = [partial(self._measure_modules, session, {name: tests[name] for name in part}, files) for part in parts]
        for done, (number, status) in enumerate(forked(tasks), 1):
            if status != SURVIVED:
                raise RuntimeError(f"one of these ended the process that ran them ({status}): {parts[number]}")
            print(f"  {done} of {len(parts)} parts of the tests measured", flush=True)
        self.modules |= {module: found for module in self.missing if (found := self._read(module))}
        self.missing = []

    def _measure_modules(self, session: Session, tests: dict[str, list[str]], files: Sequence[str]) -> int:
        watching = coverage.Coverage(data_file=None, include=list(files), config_file=False, messages=False)
        with own_files():
            watching.start()
            for module, nodeids in tests.items():
                self._write(module, _measured(session, module, nodeids, watching))
            watching.stop()
        return SURVIVED

    def _digest(self, module: str) -> str:
        return hashlib.sha256(self._common + (ROOT / module).read_bytes()).hexdigest()

    def _read(self, module: str) -> Module | None:
        place = _place(module)
        stored = json.loads(gzip.decompress(place.read_bytes())) if place.exists() else {}
        if stored.get("digest") != self._digest(module):
            return None
        lines = {file: {int(line): tests for line, tests in of.items()} for file, of in stored["lines"].items()}
        return Module(stored["seconds"], lines)

    def _write(self, module: str, found: Module) -> None:
        place = _place(module)
        KEPT.mkdir(parents=True, exist_ok=True)
        unfinished = place.with_suffix(".new")
        unfinished.write_bytes(gzip.compress(json.dumps({"digest": self._digest(module), **vars(found)}).encode(), 5))
        unfinished.rename(place)


def _place(module: str) -> Path:
    return KEPT / f"{module.replace('/', '.')}.gz"


def _measured(session: Session, module: str, nodeids: Sequence[str], watching: coverage.Coverage) -> Module:
    found = Module()
    for nodeid, following in zip_longest(nodeids, nodeids[1:]):
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


def _digest_of_code() -> bytes:
    """Of all that the test modules use."""
    sources = [path for app in APPS for path in (ROOT / app).rglob("*.py")]
    helpers = [path for path in (ROOT / "tests").rglob("*.py") if not path.name.startswith("test_")]
    content = hashlib.sha256(sys.version.encode())
    for path in sorted(sources + helpers):
        content.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return content.digest()
