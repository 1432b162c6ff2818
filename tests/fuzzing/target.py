"""A reader of what strangers send, with the property that must hold whatever it is given."""

import random
import traceback
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

REGRESSIONS = Path(__file__).parent / "regressions"


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


ROOT = Path(__file__).resolve().parents[2]
MOST_ATTEMPTS = 4_000


def signature(error: BaseException) -> str:
    """Where in our files it broke, and how: equal for inputs that break it alike."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(str(ROOT))]
    frame = ours[-1] if ours else None
    place = f"{Path(frame.filename).relative_to(ROOT)}:{frame.lineno}" if frame else "?"
    return f"{type(error).__name__} at {place}"


def breaks(check: Callable[[bytes], None], data: bytes) -> str:
    """How it breaks; "" where it holds."""
    try:
        check(data)
    except Exception as error:  # whatever comes is what is looked for
        return signature(error)
    return ""


def minimised(check: Callable[[bytes], None], data: bytes) -> bytes:
    """Stretches are taken away, long ones first, for as long as it breaks in the same way."""
    wanted, length = breaks(check, data), len(data) // 2
    attempts = 0
    while length and attempts < MOST_ATTEMPTS:
        at = 0
        while at < len(data) and attempts < MOST_ATTEMPTS:
            shorter = data[:at] + data[at + length :]
            attempts += 1
            if breaks(check, shorter) == wanted:
                data = shorter
            else:
                at += length
        length = min(length // 2, len(data))
    return data
