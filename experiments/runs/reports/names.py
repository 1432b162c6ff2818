"""What the files of a run are called."""

import re
from typing import Any


def file_name(run: Any, extension: str) -> str:
    """`arena-lab-arena-2026-03-01T12-00-00-0193b2c4.pdf`: the workflow, its start in UTC, and what begins its id."""
    moment = run.started or run.created
    workflow = re.sub(r"[^a-z0-9]+", "-", run.experiment.workflow.lower())
    return f"arena-lab-{workflow}-{moment:%Y-%m-%dT%H-%M-%S}-{str(run.pk)[:8]}.{extension}"
