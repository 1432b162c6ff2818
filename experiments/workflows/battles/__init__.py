"""Battles: a judge compares two contestants' outputs on one sample, in both orders, and so on for many.

A run is a shard: it judges the battles of its `tasks`, as many side by side as the configuration says.
"""

from experiments.workflows.battles.config import SEATS, Config
from experiments.workflows.battles.talk import run

__all__ = ["SEATS", "SHARDED", "SUBJECTS", "Config", "run"]

SUBJECTS: tuple[str, ...] = ()
SHARDED = True
