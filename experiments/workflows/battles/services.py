"""What battles, and outputs, do outside their runs: a campaign begins them, and goes on when one of them has ended."""

import logging
from typing import Any
from uuid import UUID

from django.db import DatabaseError

from experiments.models import Run
from experiments.models.signals import engine_swept, run_finished, swept
from experiments.workflows.base.workflow import Services
from experiments.workflows.battles.campaign import campaigns
from experiments.workflows.battles.campaign.logs import queueing
from experiments.workflows.battles.campaign.scope import check_setup
from experiments.workflows.shards import SHARDED

logger = logging.getLogger(__name__)


def _feed(sender: Any, run_id: UUID, **more: Any) -> None:
    """What is missed here, the sweep finds: an ended run has nobody left to be told of a failure."""
    try:
        rows = Run.objects.filter(pk=run_id, experiment__workflow__in=SHARDED)
        if experiment_id := rows.values_list("experiment_id", flat=True).first():
            campaigns.feed(experiment_id)
    except DatabaseError as error:
        logger.warning("run=%s: its campaign waits for the sweep (%s)", run_id, type(error).__name__)


def _feed_all(sender: Any, **more: Any) -> None:
    campaigns.feed_all()


def _sweep(sender: Any, **more: Any) -> None:
    queueing.sweep()


def _connect() -> None:
    run_finished.connect(_feed, dispatch_uid="campaigns")
    engine_swept.connect(_feed_all, dispatch_uid="campaigns")
    swept.connect(_sweep, dispatch_uid="battles")


SERVICES = Services(check=check_setup, start=campaigns.start, connect=_connect)
