"""Whatever is generated, every reader keeps its property: a value or a reason, nothing lost, nothing made up."""

import pytest
from hypothesis import given, settings

from tests.cases import each_case
from tests.fuzzing.generated import inputs_of
from tests.fuzzing.target import Target
from tests.fuzzing.targets import ALL

EXAMPLES = 60
BROKEN_ONCE = [
    pytest.param(target, path, id=f"{target.name}/{path.name}")
    for target in ALL.values()
    for path in target.regressions
]


@pytest.mark.parametrize("target", ALL.values(), ids=ALL)
def test_no_input_breaks_a_reader(target: Target) -> None:
    @settings(max_examples=EXAMPLES)
    @given(inputs_of(target))
    def holds(data: bytes) -> None:
        target.check(data)

    holds()


@each_case("target", ALL.values(), ids=ALL)
def test_what_the_search_begins_with_breaks_no_reader(target: Target) -> None:
    for data in target.seeds:
        target.check(data)


@each_case(("target", "path"), BROKEN_ONCE)
def test_what_broke_a_reader_once_breaks_it_no_more(target: Target, path) -> None:
    target.check(path.read_bytes())
