"""What is assumed of a council where its cost is estimated: of one question, after which it waits for others."""

from typing import Any

from experiments.workflows.base.dry_run import Assumptions, Path
from experiments.workflows.base.steps import Ask


def _dearest(config: Any, ask: Ask, earlier: int) -> Path:
    """Every answer is nothing but reasoning at first and is asked for again with more room, no ranking can be read
    before it is repaired, and every chair fails at the end of its conclusion.
    """
    if ask.purpose == "reply":
        return Path.EMPTY if earlier == 0 else Path.READ
    return {"review": Path.UNREAD, "conclusion": Path.FAILED}.get(ask.purpose, Path.READ)


ASSUMPTIONS = Assumptions(
    typical={"reply": 350, "review": 300, "repair": 60, "conclusion": 450, "title": 20}, dearest=_dearest
)
