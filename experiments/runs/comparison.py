"""Two to four transcripts side by side: what all share, what differs little, what only some have. Plain values only."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+\s*|\s+")
MOST_WORDS = 2000  # of one text: beyond that a comparison word by word takes longer than anybody would read it
MOST_WORDS_IN_ALL = 30_000  # that are compared for one page
LITTLE = 0.5  # the least share of common words at which showing the differing ones helps

Key = tuple[int, str, int]
Kind = Literal["same", "close", "different", "partial"]
Change = Literal["", "gone", "new"]


@dataclass(frozen=True, slots=True)
class Said:
    """One message: its text as produced, and as it was passed on to the others."""

    turn: int
    seat: str
    text: str
    passed_on: str
    id: str = ""
    edited_by: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text. change: "" in both texts, "gone" only in the first one, "new" only in the other one."""

    text: str
    change: Change = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one run has at a place, None for nothing. pieces: beside those of the first run, where that helps."""

    said: Said | None
    pieces: tuple[Piece, ...] = ()
    is_too_long: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """What the runs have at one place: a turn, a seat, and which of its messages there."""

    turn: int
    seat: str
    kind: Kind
    cells: tuple[Cell, ...]

    @property
    def is_passed_on_differently(self) -> bool:
        """All said the same, but a filter let something else through."""
        texts = {cell.said.text for cell in self.cells if cell.said}
        return self.kind == "different" and len(texts) == 1

    @property
    def missing(self) -> tuple[int, ...]:
        """The numbers, from 1, of the runs that have nothing here."""
        return tuple(number for number, cell in enumerate(self.cells, 1) if cell.said is None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """shared: how many messages from the beginning are the same; shared_turns: the last turn that wholly is.
    uncompared: how many texts were too long, or too many, to be compared word by word.
    """

    rows: tuple[Row, ...]
    shared: int
    shared_turns: int
    uncompared: int = 0

    @property
    def is_identical(self) -> bool:
        return self.shared == len(self.rows)

    @property
    def differing(self) -> int:
        return sum(row.kind != "same" for row in self.rows)


class Allowance:
    """The words that may still be compared for one page."""

    def __init__(self, words: int = MOST_WORDS_IN_ALL) -> None:
        self.left, self.refused = words, 0

    def take(self, words: int) -> bool:
        if words > self.left:
            self.refused += 1
            return False
        self.left -= words
        return True


def compare(*talks: Iterable[Said], words: int = MOST_WORDS_IN_ALL) -> Comparison:
    """Aligned by turn, then by seat in the order in which they spoke; a seat that spoke twice, once by once. Each text
    is compared with that of the first talk. Of two talks, the first shows what is gone and the second what is new; of
    more, each of the others shows both.
    """
    placed = [_by_place(talk) for talk in talks]
    allowance = Allowance(words)
    keys = sorted(dict.fromkeys(key for talk in placed for key in talk), key=lambda key: key[0])
    rows = tuple(_row(key, [talk.get(key) for talk in placed], allowance) for key in keys)
    shared = next((n for n, row in enumerate(rows) if row.kind != "same"), len(rows))
    broken = rows[shared].turn if shared < len(rows) else None
    whole = [row.turn for row in rows[:shared] if row.turn != broken]
    return Comparison(rows, shared, whole[-1] if whole else 0, allowance.refused)


def word_differences(left: str, right: str, allowance: Allowance | None = None) -> tuple[Piece, ...] | None:
    """Both texts in one row of pieces; None when they differ so much, or are so long, that pieces would not help."""
    first, second = WORD.findall(left), WORD.findall(right)
    allowance = allowance or Allowance()
    if max(len(first), len(second)) > MOST_WORDS:
        allowance.refused += 1
        return None
    if not allowance.take(len(first) + len(second)):
        return None
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    if matcher.quick_ratio() < LITTLE or matcher.ratio() < LITTLE:
        return None
    pieces: list[Piece] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            pieces.append(Piece("".join(first[a:b])))
        else:
            pieces += [Piece("".join(first[a:b]), "gone"), Piece("".join(second[c:d]), "new")]
    return tuple(piece for piece in pieces if piece.text)


def _by_place(messages: Iterable[Said]) -> dict[Key, Said]:
    counted: dict[tuple[int, str], int] = defaultdict(int)
    found = {}
    for said in messages:
        found[said.turn, said.seat, counted[said.turn, said.seat]] = said
        counted[said.turn, said.seat] += 1
    return found


def _row(key: Key, said: Sequence[Said | None], allowance: Allowance) -> Row:
    turn, seat, _number = key
    there = [one for one in said if one]
    if len(there) == len(said) and len({(one.text, one.passed_on) for one in there}) == 1:
        return Row(turn, seat, "same", tuple(Cell(one) for one in said))
    cells = _cells(said, allowance)
    if len(there) < len(said):
        return Row(turn, seat, "partial", cells)
    return Row(turn, seat, "close" if any(cell.pieces for cell in cells) else "different", cells)


def _cells(said: Sequence[Said | None], allowance: Allowance) -> tuple[Cell, ...]:
    first, *others = said
    if first is None:
        return tuple(Cell(one) for one in said)
    cells = []
    for one in others:
        refused = allowance.refused
        pieces = word_differences(first.text, one.text, allowance) if one and one.text != first.text else None
        cells.append(Cell(one, pieces or (), allowance.refused > refused))
    if len(cells) == 1:
        pieces = cells[0].pieces
        ours = tuple(piece for piece in pieces if piece.change != "new")
        theirs = tuple(piece for piece in pieces if piece.change != "gone")
        return Cell(first, ours), Cell(cells[0].said, theirs, cells[0].is_too_long)
    return Cell(first), *cells
