"""Battles that were judged and outputs that were made become rows, in the transaction of their step and their event.

A battle that is decided is never touched again; one that was left open becomes decided, or says anew why it is open.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from experiments.battles import counting
from experiments.battles.scope import board_of
from experiments.engine.events import Fact
from experiments.engine.text import storable, storable_data
from experiments.models import (
    Battle,
    Call,
    Contestant,
    Dataset,
    Experiment,
    Output,
    Participant,
    Run,
    Sample,
    Step,
    Verdict,
)
from experiments.workflows.steps import Record

LONGEST_REASON = 300


def judged(step: Step, record: Record) -> list[Fact]:
    """A battle with its verdicts, and its pair's counts."""
    data = record.data
    experiment = _experiment_of(step.run_id)
    same = {"board_id": _board_of(experiment, data["seat"]), "sample_id": data["sample"]}
    same |= {"left_id": data["left"], "right_id": data["right"], "ballot": ""}
    found = {**_found(data), "experiment_id": experiment, "run_id": step.run_id}
    battle, is_written = _written(same, found)
    if is_written:
        Verdict.objects.bulk_create(_verdicts(battle, step, data["verdicts"]))
        if battle.winner:
            battle.sample = Sample.objects.only("subset", "category").get(pk=battle.sample_id)
            counting.count(battle.board_id, [battle])
    told = ("sample", "left", "right", "winner", "is_consistent", "open_reason", "seat")
    return _kept(step, record, {"battle": battle.pk, **{name: data[name] for name in told}, **_names(data)})


def _kept(step: Step, record: Record, data: dict[str, Any]) -> list[Fact]:
    """What is told is kept with the step: the battle may be decided by another run, this one's page stays as it was."""
    step.data = storable_data(data)
    step.save(update_fields=["data"])
    return [Fact(record.kind, step.data)]


def _names(data: Mapping[str, Any]) -> dict[str, str]:
    """What the sides are called: pages show it, and need not look."""
    sides = (data["left"], data["right"])
    names = {one.pk: str(one) for one in Contestant.objects.filter(pk__in=sides).only("name", "label")}
    return {f"{side}_name": names.get(data[side], "") for side in ("left", "right")}


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


def _found(data: Mapping[str, Any]) -> dict[str, Any]:
    winner = data["winner"] or ""
    reason = storable(data["open_reason"] or "")[:LONGEST_REASON] or "unknown"
    return {
        "winner": winner,
        "is_consistent": data["is_consistent"] if winner else None,
        "open_reason": "" if winner else reason,
        "judged": timezone.now() if winner else None,
    }


def _verdicts(battle: Battle, step: Step, verdicts: Sequence[Mapping[str, Any]]) -> list[Verdict]:
    calls = _calls(step, [verdict["key"] for verdict in verdicts if verdict["key"]])
    return [
        Verdict(
            battle=battle,
            order=verdict["order"],
            call_id=calls.get(verdict["key"]),
            winner=verdict["winner"] or "",
            scores=verdict["scores"],
            confidence=verdict["confidence"],
            rationale=verdict["rationale"] or "",
            unread_reason=(verdict["unread_reason"] or "")[:LONGEST_REASON],
        )
        for verdict in verdicts
    ]


def _calls(step: Step, keys: Sequence[str]) -> dict[str, Any]:
    """The last call of each step, by the step's key."""
    calls = Call.objects.filter(run_id=step.run_id, step__key__in=keys).order_by("attempt")
    return dict(calls.values_list("step__key", "pk"))


@lru_cache(maxsize=512)
def _experiment_of(run_id: UUID) -> UUID:
    return Run.objects.values_list("experiment_id", flat=True).get(pk=run_id)


@lru_cache(maxsize=512)
def _board_of(experiment_id: UUID, seat: str) -> int:
    """Neither the judge nor the prompt of an experiment ever changes."""
    experiment = Experiment.objects.get(pk=experiment_id)
    judge = Participant.objects.select_related("model").get(experiment=experiment, seat=seat)
    config = experiment.parsed_config()
    return board_of(Dataset.objects.get(slug=config.dataset), config, judge)


def made(step: Step, record: Record) -> list[Fact]:
    """A contestant's output, unless there is one already; a failure is kept with its step."""
    data = dict(record.data)
    if "failed" not in data:
        call = Call.objects.filter(run_id=step.run_id, step__key=data["key"]).order_by("attempt").last()
        details = {"text": call.text if call else "", "call": call}
        Output.objects.get_or_create(sample_id=data["sample"], contestant_id=data["contestant"], defaults=details)
    contestant = Contestant.objects.filter(pk=data["contestant"]).first()
    return _kept(step, record, {**data, "name": str(contestant or "")})
