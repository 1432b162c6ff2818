"""The words of a text, the same on every database: case and accents do not count, and Chinese is cut into pairs.

Plain Python. A run of Chinese, Japanese or Korean letters becomes its overlapping pairs and its last letter alone, so
that every letter begins a word: any two letters that stand together are found, and a single one as a beginning.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby, islice
from typing import NamedTuple

LONG_TEXT = 1_000_000  # letters: all words of a shorter one are held at once
LONGEST_WORD = 64  # letters: what is longer is found by its beginning

UNSPACED = (
    "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd"
)


def _marks() -> str:
    """Vowel signs and the like, which belong to the letter before them, as ranges of a pattern."""
    codes = [code for code in range(0x300, 0x10000) if unicodedata.category(chr(code)).startswith("M")]
    runs = (list(run) for _, run in groupby(enumerate(codes), lambda pair: pair[1] - pair[0]))
    return "".join(f"{chr(run[0][1])}-{chr(run[-1][1])}" for run in runs)


PIECE = re.compile(rf"[{UNSPACED}]+|(?:[^\W_{UNSPACED}]|[{_marks()}])+")
IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
ACCENTS = re.compile("[\u0300-\u036f]")


class Word(NamedTuple):
    """A word as it is compared, and where it stands in the text. is_rest: the last letter of an unspaced run."""

    folded: str
    start: int
    end: int
    is_rest: bool = False


def words(text: str) -> Iterator[Word]:
    """In their sequence. Marks that belong to no letter are no word."""
    for piece in PIECE.finditer(text):
        start, end = piece.span()
        if IS_UNSPACED.match(piece[0]):
            for at in range(start, end - 1):
                yield Word(folded(text[at : at + 2]), at, at + 2)
            yield Word(folded(text[end - 1]), end - 1, end, is_rest=True)
        elif whole := folded(piece[0][:LONGEST_WORD]):
            yield Word(whole, start, end)


def folded_words(text: str, most: int) -> list[str]:
    """The first `most` of them as they are compared."""
    if text.isascii() and len(text) < LONG_TEXT:  # nothing is unspaced, and no letter has a mark
        return [word[:LONGEST_WORD] for word in PIECE.findall(text.lower())[:most]]
    return [word.folded for word in islice(words(text), most)]


def folded(word: str) -> str:
    """As it is compared: without case, accents and forms of width."""
    if word.isascii():
        return word.lower()
    plain = ACCENTS.sub("", unicodedata.normalize("NFKD", word.casefold()))
    return "".join(unicodedata.normalize("NFKC", plain).split())
