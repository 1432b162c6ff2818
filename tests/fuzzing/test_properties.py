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


@pytest.mark.parametrize(
    "is_quick", [True, pytest.param(False, marks=pytest.mark.exhaustive)], ids=["a quick look", "many inputs"]
)
@each_case("target", ALL.values(), ids=ALL)
def test_no_generated_or_known_input_breaks_a_reader_and_no_hostile_one_hangs_it(
    target: Target, is_quick: bool
) -> None:
    @settings(max_examples=MOST.get(target.name, 8) if is_quick else 300)
    @given(inputs_of(target))
    def holds(data: bytes) -> None:
        target.check(data)

    holds()
    for path in target.regressions:
        target.check(path.read_bytes())
    with without_hanging():
        for data in telling(20_000).values() if is_quick else [*composed().values(), *telling().values()]:
            target.read(data)
