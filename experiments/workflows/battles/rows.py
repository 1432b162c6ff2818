"""Battles that were judged become rows, in the transaction of their step and their event.

A battle that is decided is never touched again; one that was left open becomes decided, or says anew why it is open.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from experiments.engine.projections import RowWriter, kept
from experiments.models import Battle, Call, Contestant, Dataset, Experiment, Run, Sample, Step, Verdict
from experiments.workflows.base.events import EventData
from experiments.workflows.base.records import Projection, Record
from experiments.workflows.battles.campaign import counting
from experiments.workflows.battles.campaign.scope import board_of
from experiments.workflows.battles.records import BATTLE, BattleJudged, BattleJudgedData

LONGEST_REASON = 300
TOLD = {"sample", "left", "right", "winner", "is_consistent", "open_reason", "seat"}


class Battles(RowWriter[BattleJudged]):
    def write(self, step: Step, record: Record, finding: BattleJudged) -> list[EventData]:
        """A battle with its verdicts, and its pair's counts. The event's data stay with the step: the battle may be
        decided by another run, this one's page stays as it was.
        """
        experiment = _experiment_of(step.run_id)
        same = {
            "board_id": _board_of(experiment, finding.seat),
            "sample_id": finding.sample,
            "left_id": finding.left,
            "right_id": finding.right,
            "ballot": "",
        }
        found = {
            "winner": finding.winner,
            "is_consistent": finding.is_consistent if finding.winner else None,
            "open_reason": "" if finding.winner else finding.open_reason[:LONGEST_REASON] or "unknown",
            "judged": timezone.now() if finding.winner else None,
            "experiment_id": experiment,
            "run_id": step.run_id,
        }
        battle, is_written = _written(same, found)
        if is_written:
            Verdict.objects.bulk_create(_verdicts(battle, step, finding))
            if battle.winner:
                battle.sample = Sample.objects.only("subset", "category").get(pk=battle.sample_id)
                counting.count(battle.board_id, [battle])
        sides = Contestant.objects.filter(pk__in=(finding.left, finding.right)).only("name", "label")
        names = {one.pk: str(one) for one in sides}  # pages show them, and need not look
        told = BattleJudgedData(
            battle=battle.pk,
            **finding.model_dump(include=TOLD),
            left_name=names.get(finding.left, ""),
            right_name=names.get(finding.right, ""),
        )
        return kept(step, told)


def _written(same: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[Battle, bool]:
    """The one battle of this board, pair and sample, and whether it was written now: one that is decided stays."""
    rows = Battle.objects.select_for_update().filter(**same)
    battle = rows.first()
    if battle is None:
        try:
            with transaction.atomic():
                return Battle.objects.create(**same, **found), True
        except IntegrityError:  # somebody else has entered it meanwhile, and it is theirs to wait for
            battle = rows.get()
    if battle.winner:
        return battle, False
    for name, value in found.items():
        setattr(battle, name, value)
    battle.save(update_fields=[name.removesuffix("_id") for name in found])
    battle.verdicts.all().delete()
    return battle, True


def _verdicts(battle: Battle, step: Step, finding: BattleJudged) -> list[Verdict]:
    """Each with the last call of its step."""
    keys = [verdict.key for verdict in finding.verdicts if verdict.key]
    calls = Call.objects.filter(run_id=step.run_id, step__key__in=keys).order_by("attempt")
    newest = dict(calls.values_list("step__key", "pk"))
    return [
        Verdict(
            battle=battle,
            call_id=newest.get(verdict.key),
            **{**verdict.model_dump(exclude={"key"}), "unread_reason": verdict.unread_reason[:LONGEST_REASON]},
        )
        for verdict in finding.verdicts
    ]


@lru_cache(maxsize=512)
def _experiment_of(run_id: UUID) -> UUID:
    return Run.objects.values_list("experiment_id", flat=True).get(pk=run_id)


@lru_cache(maxsize=512)
def _board_of(experiment_id: UUID, seat: str) -> int:
    """Neither the judge nor the prompt of an experiment ever changes."""
    experiment = Experiment.objects.get(pk=experiment_id)
    config = experiment.parsed_config()
    judge = experiment.participants.select_related("model").get(seat=seat)
    return board_of(Dataset.objects.get(slug=config.dataset), config, judge)


ROW_WRITERS: Mapping[Projection, RowWriter[Any]] = {BATTLE: Battles()}
