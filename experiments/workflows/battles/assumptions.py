"""What is assumed of battles where their cost is estimated."""

from typing import Any

from experiments.workflows.base.dry_run import Assumptions, Path
from experiments.workflows.base.steps import Ask


def _dearest(config: Any, ask: Ask, earlier: int) -> Path:
    """No verdict can be read, however often it is asked for, and every endpoint but the last fails each time."""
    has_others = ask.patience is not None
    return Path.FAILED if has_others else Path.UNREAD


ASSUMPTIONS = Assumptions(typical={"verdict": 300}, dearest=_dearest)
