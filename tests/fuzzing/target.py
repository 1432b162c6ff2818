"""A reader of what strangers send, with the property that must hold whatever it is given."""

import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

REGRESSIONS = Path(__file__).parent / "regressions"
WHOLE = 1 << 30


@dataclass(frozen=True)
class Target:
    """read: what the product does with the bytes, once; it raises nothing. check: raises where the property is broken.

    words: pieces of which inputs are made. names: of fields, where the input is JSON. seeds: inputs to begin with.
    """

    name: str
    read: Callable[[bytes], Any]
    check: Callable[[bytes], None]
    words: tuple[str | bytes, ...] = ()
    names: tuple[str, ...] = ()
    seeds: tuple[bytes, ...] = ()

    @property
    def pieces(self) -> list[bytes]:
        return [word if isinstance(word, bytes) else word.encode("utf-8", "surrogatepass") for word in self.words]

    @property
    def regressions(self) -> list[Path]:
        """Inputs that broke the reader once."""
        return sorted((REGRESSIONS / self.name).glob("*"))


def text_of(data: bytes) -> str:
    """Any bytes as a text; those that are no UTF-8 become lone surrogates, which JSON may carry as well."""
    return data.decode("utf-8", "surrogateescape")


def chunkings(whole: Any) -> Iterator[list[Any]]:
    """A text or bytes in pieces: of 1, of 7, and of lengths that follow from what it is."""
    yield pieces(whole, range(1, len(whole)))
    yield pieces(whole, range(7, len(whole), 7))
    data = whole if isinstance(whole, bytes) else whole.encode("utf-8", "surrogatepass")
    dice = random.Random(zlib.crc32(data))
    yield pieces(whole, sorted(dice.randrange(len(whole) + 1) for _cut in range(dice.randrange(8))))


def pieces(whole: Any, cuts: Any) -> list[Any]:
    places = [0, *cuts, len(whole)]
    return [whole[start:end] for start, end in pairwise(places)]
