"""Battles: a judge compares two contestants' outputs on one sample, in both orders, and so on for many.

A run is a shard: it judges the battles of its `tasks`, as many side by side as the configuration says.
"""

from experiments.workflows.base.workflow import Workflow
from experiments.workflows.battles.config import SEATS, Config
from experiments.workflows.battles.records import RECORDS
from experiments.workflows.battles.rules import run

__all__ = ["SEATS", "WORKFLOW", "Config", "run"]

WORKFLOW = Workflow(
    slug="battles",
    config=Config,
    seats=SEATS,
    run=run,
    place=6,
    leads="judge",
    is_sharded=True,
    records=RECORDS,
    surface=f"{__name__}.surface",
    rows=f"{__name__}.rows",
    services=f"{__name__}.services",
)
