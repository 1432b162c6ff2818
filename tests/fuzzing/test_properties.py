"""Whatever is generated, every reader keeps its property: a value or a reason, nothing lost, nothing made up.

Long inputs that are made to hang a reader do not. The strict figure, a second of computing time for each of all inputs,
is what `python -m benchmarks.inputs` prints; here the limit lies between a line and a square, so that no busy machine
fails.
"""

import pytest
from hypothesis import given, settings

from tests.cases import each_case
from tests.fuzzing.generated import inputs_of
from tests.fuzzing.hostile import composed, telling
from tests.fuzzing.target import Target
from tests.fuzzing.targets import ALL
from tests.hanging import without_hanging

MOST = {"sse": 60, "reasoning": 60, "merged": 60}  # examples of a quick look, at what is tested nowhere else


def check_generated(target: Target, examples: int) -> None:
    @settings(max_examples=examples)
    @given(inputs_of(target))
    def holds(data: bytes) -> None:
        target.check(data)

    holds()


@each_case("target", ALL.values(), ids=ALL)
def test_no_generated_or_known_input_breaks_a_reader_and_no_hostile_one_hangs_it(target: Target) -> None:
    check_generated(target, MOST.get(target.name, 8))
    for path in target.regressions:
        target.check(path.read_bytes())
    with without_hanging():
        for data in telling(20_000).values():
            target.read(data)


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", ALL.values(), ids=ALL)
def test_many_generated_inputs_break_no_reader_and_a_hundred_thousand_hostile_bytes_hang_none(target: Target) -> None:
    check_generated(target, 300)
    with without_hanging():
        for data in [*composed().values(), *telling().values()]:
            target.read(data)
