"""The page of a contest: the latest cycle with each event in its place, who has judged whom, and all cycles so far."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models import Cycle, Execution, Run
from experiments.models.labels import seat_name, short_name
from experiments.runs import timeline
from experiments.runs.timeline import Entry
from experiments.sandbox.host import hosts
from experiments.workflows.coding.config import CODERS
from experiments.workflows.coding.pages.drawings import histogram
from experiments.workflows.coding.records import CycleRated, SolutionJudgedData
from experiments.workflows.coding.setting import MOST_MUTANTS, MUTANT, TRIVIAL, TWICE

FIXED = {
    "turn_started": "transcript",
    "pool_checked": "pool",
    "cycles_planned": "plan",
    "experiment_stopped": "ending",
    "experiment_error": "ending",
}
OF_A_CYCLE = {"cycle_begun": "cycle", "problem_set": "set", "cycle_void": "outcome", "cycle_rated": "outcome"}
SPOKEN = ("problem", "solution")
SOLUTION = re.compile(r"cycle/(\d+)/solution/([\w-]+)/")
ASIDE = "aside"
CHECKS = (*TWICE, *TRIVIAL, *(f"{MUTANT}{number}" for number in range(1, MOST_MUTANTS + 1)))
PHASES = {
    "problem": _("Problem"),
    "checks": _("Checks"),
    "solutions": _("Solutions"),
    "executed": _("Executed"),
    "judged": _("Judged"),
    "rated": _("Rated"),
}
STATES = {"waiting": _("waits"), "active": _("under way"), "done": _("done"), "void": _("void")}
MEASURED = ("judge_evaluation_started", "unit_judged")
WRITTEN = ("message_parsed", "call_failed", "step_skipped")
OF_A_LINE = ("run", "turn", "setter", "state", "reason", "title", "voided", "began", "ended")

Cast = Mapping[str, str]  # seats to labels of models
Slots = Mapping[str, Sequence[Entry]]


# --- who takes part ---


@dataclass(frozen=True, slots=True)
class Coder:
    """number counts from 1. name: the model's short name; the whole label where two would be called the same."""

    seat: str
    number: int
    label: str
    name: str


def coders(cast: Cast, seats: Iterable[str] | None = None) -> list[Coder]:
    """In the order of the seats; of all who are seated, or of these."""
    wanted, named = set(cast if seats is None else seats), names(cast)
    return [
        Coder(seat, number, cast.get(seat, seat), named.get(seat, seat))
        for number, seat in enumerate(CODERS, 1)
        if seat in wanted
    ]


def names(cast: Cast) -> dict[str, str]:
    """What each seat's model is called on a page."""
    short = {seat: short_name(label) for seat, label in cast.items()}
    shared = Counter(short.values())
    return {seat: name if shared[name] == 1 else cast[seat] for seat, name in short.items()}


def called(seat: str, cast: Cast | None) -> str:
    """The name of the model in a seat; the seat's own where nobody is known to sit there."""
    return names(cast or {}).get(seat) or str(seat_name(seat))


# --- where each event is shown ---


def slot_of(type_: str, data: Mapping[str, Any]) -> str:
    """The slot of an event: `slot-NAME` is the id of its element, "transcript" has no prefix. A vote is put into the
    cell that has its own id.
    """
    if type_ in FIXED:
        return FIXED[type_]
    if type_ in OF_A_CYCLE:
        return f"{OF_A_CYCLE[type_]}-{data['turn']}"
    if type_ in MEASURED:
        return _beside(data)
    if type_ == "solution_judged":
        return vote_anchor(data)
    if type_ == "solution_executed":
        is_check = data["purpose"] == "check"
        return (
            f"check-{data['turn']}-{check_name(data['key'])}"
            if is_check
            else f"execution-{data['turn']}-{data['seat']}"
        )
    if data.get("purpose") in SPOKEN and data.get("turn"):
        return f"{data['purpose']}-{data['turn']}-{data['seat']}"
    return ASIDE


def _beside(data: Mapping[str, Any]) -> str:
    """Values of an instrument stand below the solution that they are about, or below the outcome of the cycle."""
    if found := SOLUTION.match(str(data["key"])):
        return f"solution-{found[1]}-{found[2]}"
    return f"outcome-{data['turn']}" if data.get("turn") else ASIDE


def check_name(key: str) -> str:
    """`reference` for the key of that check, `repair-reference` for that of the second version of the problem."""
    return key.split("/check/", 1)[-1].replace("/", "-")


def vote_anchor(data: Mapping[str, Any]) -> str:
    judgment = data["judgment"]
    return f"vote-{data['turn']}-{judgment['subject']}-{judgment['judge_seat']}"


def check_places(slots: Slots | None, turn: int, version: str = "") -> list[tuple[str, Sequence[Entry]]]:
    """The place of each check of a problem, or of its second version ("repair-"), with the entries in it."""
    return [(f"{version}{name}", (slots or {}).get(f"check-{turn}-{version}{name}", [])) for name in CHECKS]


# --- the whole page ---


def entries(run: Run) -> list[Entry]:
    """Those of the latest cycle, and what belongs to none: a contest may have thousands of votes."""
    latest = run.cycles.order_by("-turn").values_list("turn", flat=True).first()
    return timeline.from_rows(run, turn=latest or 0, beside=("pool_checked", "cycles_planned"))


def context(reader: User | AnonymousUser, run: Run, shown: Sequence[Entry]) -> dict[str, object]:
    """cycles: the latest first. is_stranded: code waits, and no machine is there that could run it."""
    cast = run.experiment.labels
    cycles = lines_of(run, names(cast))
    waiting = run.executions.filter(state=Execution.State.WAITING)
    return {
        "cast": cast,
        "coders": coders(cast),
        "cycles": cycles,
        "rated": sum(line.cycle.state == Cycle.State.RATED for line in cycles),
        "is_stranded": not run.is_over and waiting.exists() and not hosts.known(),
        "overalls": histogram(line.overall for line in cycles if not line.cycle.voided),
    }


@dataclass(frozen=True, slots=True)
class Line:
    """A cycle in the list of all. setter, best: what the models are called; score: of the best one."""

    cycle: Any
    setter: str
    overall: float | None
    best: str
    score: float | None
    seconds: float | None


def lines_of(run: Run, named: Mapping[str, str]) -> list[Line]:
    """The cycles without their votes, of which there may be hundreds each; overall and means are read out of those."""
    read = {"overall": F("found__overall"), "means": F("found__means")}
    cycles: Iterable[Any] = run.cycles.only(*OF_A_LINE).annotate(**read).order_by("-turn")
    lines = []
    for cycle in cycles:
        means: Mapping[str, float] = cycle.means or {}
        best = max(means, key=means.__getitem__, default="")
        line = Line(
            cycle=cycle,
            setter=named.get(cycle.setter, cycle.setter),
            overall=cycle.overall,
            best=named.get(best, best),
            score=means.get(best),
            seconds=(cycle.ended - cycle.began).total_seconds() if cycle.ended else None,
        )
        lines.append(line)
    return lines


# --- the latest cycle as a picture: how far each phase is, and who has judged whom ---


@dataclass(frozen=True, slots=True)
class Vote:
    """entry: None where it was not given, or not yet. Nobody judges their own."""

    judge: str
    is_own: bool
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class Votes:
    """On one solution. mean is None where it is not rated (or not yet), and reason says why."""

    solver: Coder
    cells: list[Vote]
    mean: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Solvers from above, judges from the left, in one order. missing: votes that were not given."""

    turn: int
    coders: Sequence[Coder]
    rows: list[Votes]
    missing: list[Entry]


def matrix(slots: Slots | None, begun: Mapping[str, Any], cast: Cast) -> Matrix:
    """begun: the data of `cycle_begun`. Without slots, as a fragment is pushed, nobody has voted yet."""
    turn, seated, slots = begun["turn"], coders(cast, begun["coders"]), slots or {}
    rated = _rated(slots, turn)
    means, unrated = (rated.means, rated.unrated) if rated else ({}, {})
    rows, missing = [], []
    for solver in seated:
        cells = []
        for judge in seated:
            entry = next(iter(slots.get(f"vote-{turn}-{solver.seat}-{judge.seat}", ())), None)
            cells.append(Vote(judge.seat, judge.seat == solver.seat, entry))
            if entry and SolutionJudgedData.read(entry.data).judgment.scores is None:
                missing.append(entry)
        reason = unrated.get(solver.seat, "")
        rows.append(Votes(solver, cells, means.get(solver.seat), reason))
    return Matrix(turn, seated, rows, missing)


@dataclass(frozen=True, slots=True)
class Phase:
    """How far it is: done of `of`, None where nobody can know. words: its outcome."""

    name: str
    done: int
    of: int | None
    state: str
    words: str

    @property
    def label(self) -> Any:
        return PHASES[self.name]

    @property
    def state_label(self) -> Any:
        return STATES[self.state]


def phases(slots: Slots | None, begun: Mapping[str, Any]) -> list[Phase]:
    """Of the latest cycle. begun: the data of `cycle_begun`."""
    slots, turn, n = slots or {}, begun["turn"], len(begun["coders"])
    is_void = any(entry.type == "cycle_void" for entry in slots.get(f"outcome-{turn}", ()))
    is_set, rated = bool(slots.get(f"set-{turn}")), _rated(slots, turn)

    def latest(kind: str) -> list[Entry]:
        """The last entry of each place of this kind that is not empty, values of an instrument aside."""
        places = [inside for name, inside in slots.items() if name.startswith(f"{kind}-{turn}-")]
        inside = ([entry for entry in place if entry.type not in MEASURED] for place in places)
        return [own[-1] for own in inside if own]

    def state(name: str, done: int, of: int | None) -> str:
        if is_void:
            return "void" if name in ("problem", "checks") else "waiting"
        if rated or done == of or (name == "checks" and is_set):
            return "done"
        if name in ("problem", "checks"):
            return "active" if name == "problem" or done else "waiting"
        return "active" if is_set and (name == "solutions" or done) else "waiting"

    counts = {
        "problem": (int(is_set), 1),
        "checks": (len(latest("check")), None),
        "solutions": (sum(entry.type in WRITTEN for entry in latest("solution")), n),  # there, or never to be
        "executed": (len(latest("execution")), n),
        "judged": (len(latest("vote")), n * (n - 1)),
        "rated": (int(rated is not None), 1),
    }
    words = f"{rated.overall:.2f}" if rated and rated.overall is not None else ""
    return [Phase(name, done, of, state(name, done, of), words) for name, (done, of) in counts.items()]


def _rated(slots: Slots, turn: int) -> CycleRated | None:
    found = (entry.data for entry in slots.get(f"outcome-{turn}", ()) if entry.type == "cycle_rated")
    return next(map(CycleRated.read, found), None)
