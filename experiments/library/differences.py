"""What differs between two texts, line by line and, within a line, word by word."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

CONTEXT = 1
MOST_LINES = 400
MOST_PAIRS = 100_000
ALIKE = 0.35


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a line, and whether it is what changed."""

    text: str
    is_changed: bool


@dataclass(frozen=True, slots=True)
class Line:
    """kind gap: `count` lines that are the same and are left out."""

    kind: Literal["same", "removed", "added", "gap"]
    pieces: tuple[Piece, ...] = ()
    count: int = 0


def lines_between(before: str, after: str) -> list[Line]:
    """The lines that lead from one text to the other; long stretches that are the same become gaps.

    Comparing costs the square of the length, and more when much is repeated: texts of very many lines are shown one
    after the other, and words are compared only as long as there are fewer than MOST_PAIRS of them.
    """
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_LINES:
        return [*_plain("removed", old), *_plain("added", new)]
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    pairs = ((a, b) for tag, i, j, k, n in opcodes if tag != "equal" for a, b in zip(old[i:j], new[k:n], strict=False))
    has_few = sum(len(_split(a)) * len(_split(b)) for a, b in pairs) <= MOST_PAIRS
    found: list[Line] = []
    for tag, i, j, k, n in opcodes:
        found += _same(old[i:j], k == 0, n == len(new)) if tag == "equal" else _changed(old[i:j], new[k:n], has_few)
    return found


def _same(lines: list[str], is_first: bool, is_last: bool) -> list[Line]:
    head, tail = 0 if is_first else CONTEXT, 0 if is_last else CONTEXT
    hidden = len(lines) - head - tail
    if hidden < 2:
        return _plain("same", lines)
    shown_after = lines[len(lines) - tail :]
    return [*_plain("same", lines[:head]), Line("gap", count=hidden), *_plain("same", shown_after)]


def _changed(old: list[str], new: list[str], by_word: bool) -> list[Line]:
    """Lines that stand in each other's place are compared word by word."""
    paired = min(len(old), len(new)) if by_word else 0
    pairs = [_words(a, b) for a, b in zip(old[:paired], new[:paired], strict=True)]
    removed = [Line("removed", before) for before, _after in pairs] + _plain("removed", old[paired:])
    added = [Line("added", after) for _before, after in pairs] + _plain("added", new[paired:])
    return [*removed, *added]


def _words(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    old, new = _split(before), _split(after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < ALIKE:
        return (Piece(before, False),), (Piece(after, False),)
    changes = [(tag != "equal", "".join(old[i:j]), "".join(new[k:n])) for tag, i, j, k, n in matcher.get_opcodes()]
    return (
        tuple(Piece(words, is_changed) for is_changed, words, _new in changes if words),
        tuple(Piece(words, is_changed) for is_changed, _old, words in changes if words),
    )


def _split(line: str) -> list[str]:
    """Words with the space after them, so that joined they are the line again."""
    return re.findall(r"\S+\s*|\s+", line)


def _plain(kind: Literal["same", "removed", "added"], lines: list[str]) -> list[Line]:
    return [Line(kind, (Piece(line, False),)) for line in lines]
