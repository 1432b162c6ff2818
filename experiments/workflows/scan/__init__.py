"""Scans: an instrument measures transcripts that are there already. What it finds becomes annotations.

A run is a shard: it has the units of its `tasks` judged, as many side by side as the configuration says.
"""

from experiments.workflows.base.measuring import RECORDS
from experiments.workflows.base.workflow import Branching, Workflow
from experiments.workflows.scan.config import JUDGES, Config
from experiments.workflows.scan.rules import run

__all__ = ["WORKFLOW", "Config", "run"]

WORKFLOW = Workflow(
    slug="scan",
    config=Config,
    seats=JUDGES,
    run=run,
    place=8,
    leads="judge",
    branches=Branching.NOWHERE,
    is_sharded=True,
    records=RECORDS,
    surface=f"{__name__}.surface",
    rows=f"{__name__}.rows",
    services=f"{__name__}.services",
)
