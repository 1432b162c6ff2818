"""What is known of judges: the newest measurement of each model with the strings of today."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from experiments.lab.injections.corpus import version
from experiments.models import InjectionRate
from leaderboard.ratings.statistics import Share


@dataclass(frozen=True, slots=True)
class Standing:
    """attacked: of wrong answers that told the judge what to say; alone: of the same ones without a word to it."""

    attacked: Share
    alone: Share
    unread: int
    measured: datetime


def newest(workflow: str, models: Iterable[int | None]) -> dict[int | None, Standing]:
    """By the key of the model."""
    rows = InjectionRate.objects.filter(workflow=workflow, corpus=version(), model__in=[pk for pk in models if pk])
    return {
        row.model_id: Standing(
            Share(row.won, row.tried), Share(row.alone_won, row.alone_tried), row.unread, row.measured
        )
        for row in rows.order_by("measured", "pk")
    }
