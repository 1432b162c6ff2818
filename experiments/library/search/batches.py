"""Many rows, some at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Thing = TypeVar("Thing")


def batches(things: Iterable[Thing], size: int) -> Iterator[list[Thing]]:
    rest = iter(things)
    while some := list(islice(rest, size)):
        yield some
