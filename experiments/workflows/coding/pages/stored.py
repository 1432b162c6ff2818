"""The rows of a contest that was recorded elsewhere. Its cycles count in no ladder, and its code is never run."""

from experiments.models import Cycle, Execution, Run, Step
from experiments.workflows.coding.pages.shapes import CycleShape, ExecutionShape

UNDER_WAY = (Execution.State.WAITING, Execution.State.RUNNING)
CUT_OFF = "The run was exported while this was under way."
OF_ITS_STEP = {"id", "key", "created", "state", "error"}


def cycle(run: Run, said: CycleShape) -> Cycle:
    """fingerprint stays empty: whose problem it was says nothing of what may be set here."""
    fields = said.model_dump(include={"turn", "setter", "state", "reason", "title", "void_reason", "voided", "ended"})
    contestants = [[one.seat, one.model] for one in said.contestants]
    return Cycle(run=run, contestants=contestants, found=said.found, **fields)


def execution(run: Run, step: Step, said: ExecutionShape, key: str) -> Execution:
    fields = said.model_dump(mode="json", exclude=OF_ITS_STEP | {"ended"})
    is_over = said.state not in UNDER_WAY
    fields |= {"state": said.state, "error": said.error} if is_over else {"state": "cancelled", "error": CUT_OFF}
    return Execution(id=key, run=run, step=step, ended=said.ended, **fields)
