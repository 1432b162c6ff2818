"""What the experiments hear of their own runs: a campaign goes on when one of its runs has ended."""

import logging
from typing import Any
from uuid import UUID

from django.db import DatabaseError

from accounts import exports, lasting
from experiments.bulk import jobs as bulk
from experiments.imports import queueing as imports
from experiments.models import Run
from experiments.observing import measuring
from experiments.shards import SHARDED
from experiments.shelves import sought_notes
from experiments.signals import engine_swept, run_finished, swept
from experiments.usage import days as usage_days
from experiments.webhooks import delivering
from experiments.workflows.battles.campaign import campaigns, votes
from experiments.workflows.battles.campaign.logs import queueing

logger = logging.getLogger(__name__)


def connect() -> None:
    """Called once all apps are loaded."""
    exports.name_kinds(runs="run", experiments="experiment", files="export")
    sought_notes.connect()
    run_finished.connect(_feed, dispatch_uid="campaigns")
    run_finished.connect(_measure, dispatch_uid="observing")
    engine_swept.connect(_sweep, dispatch_uid="campaigns")
    swept.connect(_sweep_usage, dispatch_uid="usage")
    swept.connect(_sweep_logs, dispatch_uid="logs")
    swept.connect(_sweep_votes, dispatch_uid="votes")
    swept.connect(_sweep_webhooks, dispatch_uid="webhooks")
    swept.connect(_sweep_bulk, dispatch_uid="bulk")
    swept.connect(_sweep_sign_ins, dispatch_uid="sign-ins")


def _feed(sender: Any, run_id: UUID, **more: Any) -> None:
    """What is missed here, the sweep finds: an ended run has nobody left to be told of a failure."""
    try:
        rows = Run.objects.filter(pk=run_id, experiment__workflow__in=SHARDED)
        if experiment_id := rows.values_list("experiment_id", flat=True).first():
            campaigns.feed(experiment_id)
    except DatabaseError as error:
        logger.warning("run=%s: its campaign waits for the sweep (%s)", run_id, type(error).__name__)


def _measure(sender: Any, run_id: UUID, **more: Any) -> None:
    """An ended run has nobody left to be told of a failure."""
    try:
        measuring.run_ended(run_id)
    except DatabaseError as error:
        logger.warning("run=%s: its end was not counted (%s)", run_id, type(error).__name__)


def _sweep(sender: Any, **more: Any) -> None:
    campaigns.feed_all()


def _sweep_logs(sender: Any, **more: Any) -> None:
    queueing.sweep()


def _sweep_usage(sender: Any, **more: Any) -> None:
    usage_days.roll_up()


def _sweep_sign_ins(sender: Any, **more: Any) -> None:
    lasting.forget_expired()


def _sweep_votes(sender: Any, **more: Any) -> None:
    votes.forget_old_offers()


def _sweep_webhooks(sender: Any, **more: Any) -> None:
    delivering.sweep()


def _sweep_bulk(sender: Any, **more: Any) -> None:
    bulk.sweep()
    imports.sweep()
