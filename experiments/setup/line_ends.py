"""Text that has been through a text field of a browser, which knows only one kind of line end."""

import re
from itertools import takewhile

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")


def as_typed(text: str) -> str:
    """The text with a line feed at each line end: browsers send two characters, whatever was shown."""
    return re.sub("\r\n?", "\n", text)


def is_same(text: str, shown: str) -> bool:
    """Whether a field that showed `shown` came back as it was."""
    return as_typed(text) == as_typed(shown)


def restored(text: str, shown: str) -> str:
    """What somebody meant who changed `shown` into `text`: the lines above and below the change are those that were
    shown, with their own line ends; each line in between ends with a line feed.
    """
    if is_same(text, shown):
        return shown
    typed, before = _lines(as_typed(text)), _lines(shown)
    above = _equal(typed, before)
    below = _equal(typed[above:][::-1], before[above:][::-1])
    kept_below = before[len(before) - below :]
    return "".join((*before[:above], *typed[above : len(typed) - below], *kept_below))


def _lines(text: str) -> list[str]:
    return [line for line in LINE.findall(text) if line]


def _equal(typed: list[str], shown: list[str]) -> int:
    """How many lines from the beginning on are the same."""
    pairs = zip(typed, shown, strict=False)
    return sum(1 for _pair in takewhile(lambda pair: pair[0] == as_typed(pair[1]), pairs))
