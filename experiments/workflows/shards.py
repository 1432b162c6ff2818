"""Workflows whose runs do not stand for themselves. SHARDED: they are shards of a campaign, which plans them and whose
page shows them. SCORING: they score the transcript of another run, and belong to it.
"""

from typing import Any

from experiments.workflows import REGISTRY

SCORING = tuple(slug for slug, workflow in REGISTRY.items() if workflow.scores_parent)
SHARDED = tuple(slug for slug, workflow in REGISTRY.items() if workflow.is_sharded)


def is_sharded(workflow: str) -> bool:
    return workflow in SHARDED


def without_shards(runs: Any) -> Any:
    """Runs that stand for themselves."""
    return runs.exclude(experiment__workflow__in=SHARDED)


def only_shards(runs: Any) -> Any:
    """Runs that are parts of campaigns."""
    return runs.filter(experiment__workflow__in=SHARDED)
