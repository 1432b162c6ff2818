"""What a run that makes outputs states."""

from typing import Literal

from experiments.workflows.base.events import EventData
from experiments.workflows.base.records import Finding, Projection

OUTPUT = Projection("output")


class OutputResult(EventData):
    """key: of the step whose answer is the output of the contestant to the sample; failed: why there is none."""

    type: Literal["output_made"] = "output_made"
    sample: int
    contestant: int
    key: str = ""
    failed: str = ""


class OutputMadeData(OutputResult):
    """name: of the contestant."""

    name: str = ""


class OutputMade(OutputResult, Finding):
    into = OUTPUT
    tells = OutputMadeData


RECORDS: tuple[type[Finding], ...] = (OutputMade,)
