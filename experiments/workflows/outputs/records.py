"""What a run that makes outputs states."""

from typing import Literal

from experiments.workflows.base.records import Finding, Projection

OUTPUT = Projection("output")


class OutputMade(Finding):
    """key: of the step whose answer is the output of the contestant to the sample; failed: why there is none."""

    into = OUTPUT
    type: Literal["output_made"] = "output_made"
    sample: int
    contestant: int
    key: str = ""
    failed: str = ""
