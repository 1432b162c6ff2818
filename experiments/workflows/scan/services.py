"""What a scan does outside its runs: which units there are, which are missing, and how far it is.

The campaign of battles shares the units out over runs: it is told by `UnitGround` what is missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.engine import reservations
from experiments.engine.excerpts import unit_at
from experiments.models import Annotation, Campaign, Experiment, Message, Participant, Run, Step
from experiments.workflows.base.events import JsonObject
from experiments.workflows.base.instruments import Definition
from experiments.workflows.base.workflow import Services
from experiments.workflows.battles.campaign import campaigns
from experiments.workflows.battles.campaign.planning import Flags, Lane, Survey, laps
from experiments.workflows.battles.campaign.progress import RECENT, Progress, reasons
from experiments.workflows.scan.config import Config

if TYPE_CHECKING:
    from accounts.models import User


@dataclass(frozen=True, slots=True)
class ScanUnit:
    """run, place, turn, subjects: as `config.Task` has them."""

    run: UUID
    place: int
    turn: int | None
    subjects: tuple[str, ...] = ()


def units_of(definition: Definition, runs: Sequence[Any]) -> list[ScanUnit]:
    """The units of these runs, in their order: messages of models, and turns and runs that have some."""
    spoken = Message.objects.filter(run__in=runs, superseded=False).exclude(model="").order_by("run", "seq")
    rows = spoken.values_list("run", "seq", "turn", "seat")
    if definition.unit == "message":
        return [ScanUnit(run, seq, turn, (seat,) if definition.each_speaker else ()) for run, seq, turn, seat in rows]
    if definition.unit in ("pair", "span"):
        return _of_several(definition, runs)
    found: dict[tuple[UUID, int], dict[str, None]] = {}
    for run, _seq, turn, seat in rows:
        found.setdefault((run, turn if definition.unit == "turn" else 0), {})[seat] = None
    is_turn = definition.unit == "turn"
    return [
        ScanUnit(run, place, place if is_turn else None, tuple(seats) if definition.each_speaker else ())
        for (run, place), seats in found.items()
    ]


def _of_several(definition: Definition, runs: Sequence[Any]) -> list[ScanUnit]:
    """The pairs, or the spans without gap or overlap, in which a model has spoken."""
    said = Message.objects.filter(run__in=runs, superseded=False).order_by("run", "seq")
    of_run: dict[UUID, list[Message]] = {}
    for one in said.only("run", "seq", "turn", "seat", "model"):
        of_run.setdefault(one.run_id, []).append(one)
    units = []
    for run, messages in of_run.items():
        for one in messages[:: definition.length if definition.unit == "span" else 1]:
            inside = unit_at(definition.unit, one.seq, messages, definition.length)
            spoke = dict.fromkeys(each.seat for each in inside if each.model)
            if spoke and (one.model or definition.unit == "span"):
                units.append(ScanUnit(run, one.seq, one.turn, tuple(spoke) if definition.each_speaker else ()))
    return units


class UnitGrid:
    """The units by their numbers."""

    def __init__(self, count: int) -> None:
        self.samples = np.arange(count, dtype=np.int64)

    def __len__(self) -> int:
        return int(self.samples.size)


class UnitGround:
    """The units of a scan: one lane with all of them. Judged are those that a judge has answered with this version,
    here or in another scan that the owner may see; with `again`, here alone. judges: models by seat. tried: since when
    those that were left unanswered are not asked about once more.
    """

    def __init__(
        self,
        config: Config,
        judges: Mapping[str, int],
        owner: "User",
        experiment: Experiment | None = None,
        tried: datetime | None = None,
    ) -> None:
        self._config, self._judges, self._owner = config, judges, owner
        self._experiment, self._tried = experiment, tried
        self._readable = Run.objects.visible_to(owner).filter(pk__in=config.runs).values_list("pk", flat=True)
        only = {UUID(run): set(places) for run, places in config.only.items()}
        units = units_of(config.definition, list(self._readable))
        self.units = [unit for unit in units if unit.run not in only or unit.place in only[unit.run]]
        self._number = {(unit.run, unit.place): number for number, unit in enumerate(self.units)}
        self.grid = UnitGrid(len(self.units))

    @cached_property
    def unanswered(self) -> Mapping[str, Flags]:
        """By seat: the units that the judge has not answered."""
        theirs = Q(made_in__experiment=self._experiment) if self._experiment else Q(pk__in=[])
        if not self._config.again:
            theirs |= Q(pk__in=Annotation.objects.visible_to(self._owner).values("pk"))
        rows = Annotation.objects.filter(theirs, version=UUID(self._config.version), answered=True)
        return {seat: ~self._flags(rows.filter(model=model)) for seat, model in self._judges.items()}

    def _flags(self, rows: QuerySet[Annotation]) -> Flags:
        flags = np.zeros(len(self.grid), dtype=np.bool_)
        places = rows.filter(run__in=self._readable).order_by().values_list("run", "place").distinct()
        known = [number for place in places if (number := self._number.get(place)) is not None]
        flags[known] = True
        return flags

    @cached_property
    def _missing(self) -> Mapping[str, Flags]:
        if self._tried is None:
            return self.unanswered
        tried = Annotation.objects.filter(made_in__experiment=self._experiment, made_in__created__gte=self._tried)
        return {
            seat: flags & ~self._flags(tried.filter(model=self._judges[seat]))
            for seat, flags in self.unanswered.items()
        }

    def missing(self, lane: Lane, stretch: slice = slice(None)) -> Mapping[str, Flags]:
        return self._missing

    def task(self, lane: Lane, sample: int, seats: Sequence[str]) -> JsonObject:
        unit = self.units[sample]
        place: dict[str, Any] = {"run": str(unit.run), "place": unit.place, "turn": unit.turn}
        some = {} if len(seats) == len(self._judges) else {"seats": list(seats)}
        return {**place, "subjects": list(unit.subjects), **some}

    def survey(self) -> Survey:
        counts = [int(flags.sum()) for flags in self._missing.values()]
        lanes = [Lane(0, 0, len(self.grid), laps(max(counts)))] if any(counts) else []
        return Survey(lanes, sum(counts))

    def count_done(self, experiment_id: UUID) -> int:
        return answered(experiment_id).count()

    def has_open(self, experiment_id: UUID) -> bool:
        return any(bool(flags.any()) for flags in self.unanswered.values())


def judged(experiment_id: UUID) -> QuerySet[Step]:
    """The steps that state what a judge said of a unit."""
    return Step.objects.filter(run__experiment=experiment_id, purpose="unit_judged")


def answered(experiment_id: UUID) -> QuerySet[Step]:
    return judged(experiment_id).filter(annotations__answered=True).distinct()


def ground(campaign: Campaign, tried: datetime | None) -> UnitGround:
    experiment = campaign.experiment
    judges = dict(experiment.participants.order_by("seat").values_list("seat", "model_id"))
    return UnitGround(experiment.parsed_config(), judges, experiment.owner, experiment, tried)


def progress(experiment: Experiment, now: datetime) -> Progress:
    """A unit counts once for each judge. Open are those that were asked about since the scan began, or was resumed, and
    not answered.
    """
    done = answered(experiment.pk)
    began = reservations.campaign_began(experiment.pk)
    failed = (
        judged(experiment.pk)
        .filter(run__created__gte=began, annotations__answered=False)
        .exclude(annotations__answered=True)
    )
    return Progress(
        decided=done.count(),
        recent=done.filter(ended__gte=now - RECENT).count(),
        open=failed.distinct().count(),
        open_reasons=reasons(failed.order_by(), "annotations__unscored_reason"),
    )


def check(workflow: str, config: Any, seated: Sequence[Participant], *, owner: "User") -> None:
    """Raises Invalid where the owner may not see one of the runs, or a judge is chosen twice. A run that they may not
    see is as one that does not exist.
    """
    errors: dict[str, list[str]] = {}
    known = Run.objects.visible_to(owner).filter(pk__in=config.runs).count()
    if known < len(config.runs):
        errors["config.runs"] = [_("Some of these runs do not exist, or you cannot see them.")]
    seen: set[int] = set()
    for judge in seated:
        if judge.model_id in seen:
            errors[f"cast.{judge.seat}"] = [_("This judge is chosen twice. Choose another model.")]
        seen.add(judge.model_id)
    if errors:
        raise Invalid(errors)


SERVICES = Services(check=check, start=campaigns.start, ground=ground, progress=progress)
