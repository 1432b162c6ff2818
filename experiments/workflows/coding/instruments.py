"""What judges of a contest are asked of a solution, as an instrument: in the words of their own prompt."""

import re

from experiments.workflows.base.instruments import Definition, ScaleDimension
from experiments.workflows.base.material import Sees
from experiments.workflows.base.prompts import text_of
from experiments.workflows.coding.judging import DIMENSIONS, HIGH, JUDGE, LOW

DIMENSION = re.compile(r"^- (\w+): (.*?)(?=\n- |\nWhat)", re.DOTALL | re.MULTILINE)
NUMBERS = re.compile(r"^What the numbers mean:.*?(?=\n\n)", re.DOTALL | re.MULTILINE)
ASKED = "{task}.\n\n$material\n\nGive each dimension a number from 0 to 10:\n$dimensions\n{numbers}\n\n$form"


def definition() -> Definition:
    """Five scales from 0 to 10 for each message. Votes are given by the contest's own judges alone."""
    text = text_of(JUDGE)
    words = {name: " ".join(said.split()) for name, said in DIMENSION.findall(text)}
    scales = [
        ScaleDimension(
            name=name, title=name.capitalize(), description=words[name], low=LOW, high=HIGH, step=2, is_continuous=True
        )
        for name in DIMENSIONS
    ]
    asked = ASKED.format(task=text.partition(".")[0], numbers=NUMBERS.findall(text)[0])
    return Definition(dimensions=scales, unit="message", sees=Sees(earlier=0), prompt=asked)
