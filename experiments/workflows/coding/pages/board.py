"""The latest cycle of a contest as a picture: how far each phase is, and who has judged whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.runs.timeline import Entry
from experiments.workflows.coding.mutants import MOST_MUTANTS
from experiments.workflows.coding.pages.coders import Coder, coders
from experiments.workflows.coding.pages.slots import Slots
from experiments.workflows.coding.records import CycleRated, SolutionJudgedData

TRIVIAL = ("constant", "echo")
CHECKS = ("reference", "reference-again", *TRIVIAL, *(f"mutant-{number}" for number in range(1, MOST_MUTANTS + 1)))
PHASES = ("problem", "checks", "solutions", "executed", "judged", "rated")
WRITTEN = ("message_parsed", "call_failed", "step_skipped")


@dataclass(frozen=True, slots=True)
class Phase:
    """done of `of`, None where nobody can know. state: waiting, active, done or void. overall: once it is rated."""

    name: str
    done: int
    of: int | None
    state: str
    overall: float | None = None

    @property
    def words(self) -> str:
        return "" if self.overall is None else f"{self.overall:.2f}"


@dataclass(frozen=True, slots=True)
class Cell:
    """What a judge gave a solution; entry None as long as there is none. is_own: nobody judges their own."""

    judge: str
    is_own: bool
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class Row:
    """The votes on one solution. mean None where it is not rated (or not yet); reason says why."""

    solver: Coder
    cells: tuple[Cell, ...]
    mean: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Solvers from above, judges from the left, in one order. missing: votes that were not given."""

    turn: int
    coders: tuple[Coder, ...]
    rows: tuple[Row, ...]
    missing: tuple[Entry, ...]
    is_rated: bool


def matrix(slots: Slots | None, begun: Mapping[str, Any], cast: Mapping[str, str]) -> Matrix:
    """begun: the data of `cycle_begun`. Without slots, as a fragment is pushed, nobody has voted yet."""
    turn, seated = begun["turn"], coders(cast, begun["coders"])
    slots = slots or {}
    rated = _rated(slots, turn)
    rows = tuple(_row(slots, turn, solver, seated, rated) for solver in seated)
    given = [cell.entry for row in rows for cell in row.cells if cell.entry]
    missing = tuple(entry for entry in given if SolutionJudgedData.read(entry.data).judgment.scores is None)
    return Matrix(turn, tuple(seated), rows, missing, rated is not None)


def phases(slots: Slots | None, begun: Mapping[str, Any]) -> list[Phase]:
    slots, turn, n = slots or {}, begun["turn"], len(begun["coders"])
    outcome = [entry.type for entry in _in(slots, "outcome", turn)]
    is_set, is_void, rated = bool(_in(slots, "set", turn)), "cycle_void" in outcome, _rated(slots, turn)
    counts = {
        "problem": (int(is_set), 1),
        "checks": (_filled(slots, f"check-{turn}-"), None),
        "solutions": (_written(slots, turn), n),
        "executed": (_filled(slots, f"execution-{turn}-"), n),
        "judged": (_filled(slots, f"vote-{turn}-"), n * (n - 1)),
        "rated": (int(rated is not None), 1),
    }
    overall = rated.overall if rated else None
    states = {name: _state(name, counts[name], is_set, is_void, rated is not None) for name in PHASES}
    return [Phase(name, *counts[name], states[name], overall) for name in PHASES]


def _rated(slots: Slots, turn: int) -> CycleRated | None:
    found = (entry.data for entry in _in(slots, "outcome", turn) if entry.type == "cycle_rated")
    return next(map(CycleRated.read, found), None)


def _state(name: str, count: tuple[int, int | None], is_set: bool, is_void: bool, is_rated: bool) -> str:
    done, of = count
    if is_void:
        return "void" if name in ("problem", "checks") else "waiting"
    if is_rated or done == of or (name == "checks" and is_set):
        return "done"
    if name in ("problem", "checks"):
        return "active" if name == "problem" or done else "waiting"
    return "active" if is_set and (name == "solutions" or done) else "waiting"


def _row(slots: Slots, turn: int, solver: Coder, judges: Sequence[Coder], rated: CycleRated | None) -> Row:
    cells = tuple(
        Cell(judge.seat, judge.seat == solver.seat, _first(slots, f"vote-{turn}-{solver.seat}-{judge.seat}"))
        for judge in judges
    )
    means, unrated = (rated.means, rated.unrated) if rated else ({}, {})
    return Row(solver, cells, means.get(solver.seat), unrated.get(solver.seat, ""))


def _in(slots: Slots, name: str, turn: int) -> list[Entry]:
    return slots.get(f"{name}-{turn}", [])


def _first(slots: Slots, name: str) -> Entry | None:
    return next(iter(slots.get(name, ())), None)


def _filled(slots: Slots, prefix: str) -> int:
    return sum(bool(entries) for name, entries in slots.items() if name.startswith(prefix))


def _written(slots: Slots, turn: int) -> int:
    """Solutions that are there, or will not be."""
    ends = (entries[-1] for name, entries in slots.items() if name.startswith(f"solution-{turn}-") and entries)
    return sum(entry.type in WRITTEN for entry in ends)
