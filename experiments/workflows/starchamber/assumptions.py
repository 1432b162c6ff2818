"""What is assumed of a talk with one model where its cost is estimated."""

from typing import Any

from experiments.workflows.base.dry_run import Assumptions, mark
from experiments.workflows.base.steps import Listen, Outcome

QUESTION = mark(60)


def _said(config: Any, pause: Listen, at_most: bool) -> Outcome | None:
    """The researcher asks on until the last turn, and gives up when there is no answer."""
    return Outcome(text=QUESTION, action="send") if pause.reason == "your_turn" else None


ASSUMPTIONS = Assumptions(typical={"reply": 350, "judge": 400}, said=_said)
