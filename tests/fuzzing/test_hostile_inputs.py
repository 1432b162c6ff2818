"""What is made to hang a reader does not: a hundred thousand bytes of it are read in time, and break nothing.

The strict figure, a second of computing time for each of all inputs, is what `python -m benchmarks.inputs` prints. Here
the limit lies between a line and a square, so that no busy machine fails.
"""

import pytest

from tests.fuzzing.hostile import composed, telling
from tests.fuzzing.target import Target
from tests.fuzzing.targets import ALL
from tests.hanging import without_hanging

HOSTILE = [*composed().values(), *telling().values()]


@pytest.mark.parametrize("target", ALL.values(), ids=ALL)
def test_a_hundred_thousand_bytes_do_not_hang_a_reader(target: Target) -> None:
    with without_hanging():
        for data in HOSTILE:
            target.read(data)
