"""The style of a text as numbers, and how two texts differ in it: the covariates of ratings adjusted for style.

As published for the Arena (Li et al., "Does style matter?", lmsys.org 2024): markdown is counted outside of code
blocks, and a difference is (left - right) / (left + right), over its root mean square.
"""

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.values import FloatArray

CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
HEADING = re.compile(r"^ {0,3}#{1,6}\s+\S", re.MULTILINE)
ITEM = re.compile(r"^[^\S\n]*(?:[-*+]|\d{1,3}[.)])\s+\S", re.MULTILINE)
BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")
SCRIPTS = {
    "latin": re.compile(r"[A-Za-z\u00c0-\u024f]"),
    "han": re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]"),
    "kana": re.compile(r"[\u3040-\u30ff]"),
    "hangul": re.compile(r"[\uac00-\ud7af]"),
    "cyrillic": re.compile(r"[\u0400-\u04ff]"),
    "greek": re.compile(r"[\u0370-\u03ff]"),
    "arabic": re.compile(r"[\u0600-\u06ff]"),
    "hebrew": re.compile(r"[\u0590-\u05ff]"),
    "devanagari": re.compile(r"[\u0900-\u097f]"),
    "thai": re.compile(r"[\u0e00-\u0e7f]"),
}
MOST_READ = 2000  # characters in which a text's script is looked for


class Style(NamedTuple):
    """length: characters. headings, lists (items of), bold (spans) and code (blocks): how many. language: 1 where the
    answer is in the script of its prompt, else 0.
    """

    length: int
    headings: int
    lists: int
    bold: int
    code: int
    language: int


FEATURES = Style._fields
COVARIATES = (*FEATURES, "position")


def style_of(text: str, prompt: str) -> Style:
    """The style of an answer to a prompt."""
    plain = CODE.sub("", text)
    asked, used = script_of(prompt), script_of(plain)
    return Style(
        length=len(text),
        headings=len(HEADING.findall(plain)),
        lists=len(ITEM.findall(plain)),
        bold=len(BOLD.findall(plain)),
        code=len(CODE.findall(text)),
        language=int(not asked or not used or asked == used),
    )


def script_of(text: str) -> str:
    """The script that most letters are of, Japanese for any text with a tenth of kana; empty without a letter."""
    counts = {name: len(letters.findall(text[:MOST_READ])) for name, letters in SCRIPTS.items()}
    if counts["kana"] * 10 > counts["han"] + counts["kana"] > 0:
        return "kana"
    name = max(counts, key=counts.__getitem__)
    return name if counts[name] else ""


def relative_difference(left: ArrayLike, right: ArrayLike) -> tuple[FloatArray, float]:
    """(left - right) / (left + right), 0 where both are 0, over its root mean square; and that, 0 without a difference.

    left, right: one number per battle, 0 or more, of any unit. Raises ValueError for others.
    """
    first, second = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError("what is compared is given one per battle, for both sides")
    if not (np.isfinite(first) & np.isfinite(second) & (first >= 0) & (second >= 0)).all():
        raise ValueError("what is compared is a finite number, 0 or more")
    whole = first + second
    relative = np.divide(first - second, whole, out=np.zeros_like(first), where=whole > 0)
    size = float(np.sqrt(np.mean(relative**2))) if relative.size else 0.0
    return relative / size if size else relative, size
