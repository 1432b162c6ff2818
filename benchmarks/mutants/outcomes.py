"""What became of each change: kept as soon as it is known, so that a run goes on where the one before it stopped."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from benchmarks.mutants.changes import Change, Source
from benchmarks.mutants.lines import KEPT, ROOT, digest_of
from benchmarks.mutants.reasons import REASONS

APPS = ("accounts", "arenasite", "experiments", "leaderboard")
KINDS = ("killed", "survived", "not covered", "timed out", "never live")


@dataclass
class Mutant:
    source: Source
    change: Change
    covering: int = 0
    tests: dict[str, float] = field(default_factory=dict)  # tried of those that cover it, with their processor seconds
    kind: str = "not covered"
    killer: str = ""

    @property
    def file(self) -> str:
        return self.source.path.relative_to(ROOT).as_posix()

    @property
    def diff(self) -> str:
        return self.source.diff(self.change, self.file)

    @property
    def name(self) -> tuple[str, str, str]:
        """The file, and what the line says before and after."""
        return self.file, *self.source.lines_of(self.change)


class Outcomes:
    """An outcome holds as long as the product, the helpers of the tests, and the test modules that it rests on are
    unchanged: the module of the test that killed, or those of all tests that were tried, which must be the same.
    """

    def __init__(self, seed: int) -> None:
        self._place = KEPT / f"outcomes-{seed}.json"
        self._stored: dict[str, list[str]] = json.loads(self._place.read_text()) if self._place.exists() else {}
        sources = [path for app in APPS for path in (ROOT / app).rglob("*.py")]
        helpers = [path for path in (ROOT / "tests").rglob("*.py") if not path.name.startswith("test_")]
        self._code = digest_of(path.relative_to(ROOT).as_posix() for path in sources + helpers)
        self.trusted = {killer for _digest, _kind, killer in self._stored.values() if killer}

    def killer(self, mutant: Mutant) -> str:
        """The test that noticed the change the last time, which may have been to other code around it."""
        return self._stored.get("\n".join(mutant.name), ("", "", ""))[2]

    def restore(self, mutant: Mutant) -> bool:
        """Whether it is known already what becomes of the mutant, which then says so."""
        digest, kind, killer = self._stored.get("\n".join(mutant.name), ("", "", ""))
        is_known = bool(kind) and digest == self._digest(mutant, killer)
        if is_known:
            mutant.kind, mutant.killer = kind, killer
        return is_known

    def keep(self, mutant: Mutant) -> None:
        known = [self._digest(mutant, mutant.killer), mutant.kind, mutant.killer]
        self._stored["\n".join(mutant.name)] = known
        unfinished = self._place.with_suffix(".new")
        unfinished.write_text(json.dumps(self._stored, indent=1))
        unfinished.rename(self._place)

    def _digest(self, mutant: Mutant, killer: str) -> str:
        tried = [killer] if killer else sorted(mutant.tests)
        needed = {test.split("::")[0] for test in tried}
        return self._code + digest_of(needed) + hashlib.sha256("".join(tried).encode()).hexdigest()


def report(mutants: Sequence[Mutant], possible: int, seed: int, failing: int) -> None:
    """possible: how many lines can be changed. failing: how many tests fail without any change."""
    for mutant in mutants:
        if mutant.kind == "survived":
            reason = REASONS.get(mutant.name)
            print(f"\n{len(mutant.tests)} of {mutant.covering} tests that run the line were tried")
            print(mutant.diff, f"It stays: {reason}" if reason else "", sep="")
    for kind in ("not covered", "timed out", "never live"):
        _list(kind, (mutant for mutant in mutants if mutant.kind == kind))
    count = {kind: sum(mutant.kind == kind for mutant in mutants) for kind in KINDS}
    print(f"\n{len(mutants)} of {possible} lines changed, seed {seed}")
    for kind in KINDS:
        print(f"{kind:12} {count[kind]:5}")
    explained = sum(mutant.kind == "survived" and mutant.name in REASONS for mutant in mutants)
    print(f"{explained} of the survivors stay for a reason that is named")
    tried = count["killed"] + count["survived"]
    _print_share(count["killed"], tried, "of those that tests run")
    _print_share(count["killed"], tried + count["not covered"], "with those that no test runs")
    if failing:
        print(f"{failing} tests that fail or are skipped without any change were left out")


def _list(kind: str, mutants: Iterable[Mutant]) -> None:
    print(f"\n{kind}:")
    for mutant in mutants:
        print(f"  {mutant.file}:{mutant.change.line}  {REASONS.get(mutant.name, '')}")


def _print_share(killed: int, of: int, which: str) -> None:
    if of:
        print(f"{killed / of:.1%} killed {which}")
