"""Two transcripts side by side: what both share, what differs little, what only one has. Plain values only."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+\s*|\s+")
MOST_WORDS = 2000  # beyond that a comparison word by word takes longer than anybody would read it
LITTLE = 0.5  # the least share of common words at which showing the differing ones helps

Key = tuple[int, str, int]
Kind = Literal["same", "close", "different", "left", "right"]


@dataclass(frozen=True, slots=True)
class Said:
    """One message: its text as produced, and as it was passed on to the others."""

    turn: int
    seat: str
    text: str
    passed_on: str
    anchor: str = ""
    edited_by: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; differs: the other text has something else in its place."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """What both said at one place. kind: "left" or "right" when only that one said something there."""

    turn: int
    seat: str
    kind: Kind
    left: Said | None
    right: Said | None
    left_pieces: tuple[Piece, ...] = ()
    right_pieces: tuple[Piece, ...] = ()

    @property
    def is_passed_on_differently(self) -> bool:
        """Both said the same, but a filter let something else through."""
        return bool(self.left and self.right and self.left.text == self.right.text and self.kind != "same")


@dataclass(frozen=True, slots=True)
class Comparison:
    """shared: how many messages from the beginning are the same; shared_turns: the last turn that wholly is."""

    pairs: tuple[Pair, ...]
    shared: int
    shared_turns: int

    @property
    def is_identical(self) -> bool:
        return self.shared == len(self.pairs)


def compare(left: Iterable[Said], right: Iterable[Said]) -> Comparison:
    """Aligned by turn, then by seat in the order in which they spoke; a seat that spoke twice, once by once."""
    first, second = _by_place(left), _by_place(right)
    pairs = tuple(_pair(key, first.get(key), second.get(key)) for key in _order(first, second))
    shared = next((n for n, pair in enumerate(pairs) if pair.kind != "same"), len(pairs))
    broken = pairs[shared].turn if shared < len(pairs) else None
    whole = [pair.turn for pair in pairs[:shared] if pair.turn != broken]
    return Comparison(pairs, shared, whole[-1] if whole else 0)


def word_differences(left: str, right: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]] | None:
    """Both texts in pieces; None when they differ so much, or are so long, that pieces would not help."""
    first, second = WORD.findall(left), WORD.findall(right)
    if max(len(first), len(second)) > MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    if matcher.quick_ratio() < LITTLE or matcher.ratio() < LITTLE:
        return None
    ours, theirs = [], []
    for kind, a, b, c, d in matcher.get_opcodes():
        ours.append(Piece("".join(first[a:b]), kind != "equal"))
        theirs.append(Piece("".join(second[c:d]), kind != "equal"))
    return tuple(p for p in ours if p.text), tuple(p for p in theirs if p.text)


def _by_place(messages: Iterable[Said]) -> dict[Key, Said]:
    counted: dict[tuple[int, str], int] = defaultdict(int)
    found = {}
    for said in messages:
        found[said.turn, said.seat, counted[said.turn, said.seat]] = said
        counted[said.turn, said.seat] += 1
    return found


def _order(first: dict[Key, Said], second: dict[Key, Said]) -> Sequence[Key]:
    keys = [*first, *(key for key in second if key not in first)]
    return sorted(keys, key=lambda key: key[0])


def _pair(key: Key, left: Said | None, right: Said | None) -> Pair:
    turn, seat, _number = key
    if left is None or right is None:
        return Pair(turn, seat, "right" if left is None else "left", left, right)
    if left.text == right.text:
        return Pair(turn, seat, "same" if left.passed_on == right.passed_on else "different", left, right)
    pieces = word_differences(left.text, right.text)
    return Pair(turn, seat, "close", left, right, *pieces) if pieces else Pair(turn, seat, "different", left, right)
