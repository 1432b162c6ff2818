"""Whether a problem is new: fingerprints of statements, compared with those of earlier ones.

A fingerprint is a MinHash of the statement's runs of three words: the share of equal numbers in two of them estimates
the share of runs that the statements have in common (Broder, 1997).
"""

import hashlib
import re
from collections.abc import Iterable, Sequence

from experiments.workflows.coding.config import Earlier
from experiments.workflows.coding.problems import Problem

SIZE = 32  # numbers; the estimate's standard error is at most 0.09
NEAR = 0.6
RUN = 3  # words
MOST_WORDS = 3_000
WORD = re.compile(r"[^\W_]+")


def fingerprint(problem: Problem) -> list[int]:
    return _fingerprint(f"{problem.title} {problem.description}")


def likeness(one: Sequence[int], other: Sequence[int]) -> float:
    """The estimated share of what two statements have in common, 0 to 1."""
    same = sum(a == b for a, b in zip(one, other, strict=False))
    return same / SIZE if len(one) == len(other) == SIZE else 0.0


def nearest(problem: Problem, earlier: Iterable[Earlier]) -> Earlier | None:
    """The earlier problem that this one repeats: of the same title, or nearly the same words. None when it is new."""
    mine, title = fingerprint(problem), _words(problem.title)
    for other in earlier:
        if (title and title == _words(other.title)) or likeness(mine, other.fingerprint) >= NEAR:
            return other
    return None


def as_earlier(problem: Problem) -> Earlier:
    return Earlier(title=problem.title, fingerprint=fingerprint(problem))


def _fingerprint(text: str) -> list[int]:
    words = _words(text)[:MOST_WORDS]
    runs = {" ".join(words[start : start + RUN]) for start in range(max(1, len(words) - RUN + 1))}
    hashes = [hashlib.blake2b(run.encode(), digest_size=4 * SIZE // 2).digest() for run in runs]
    hashes_too = [hashlib.blake2b(run.encode(), digest_size=4 * SIZE // 2, key=b"2").digest() for run in runs]
    pairs = zip(hashes, hashes_too, strict=True)
    columns = [[int.from_bytes((a + b)[4 * i : 4 * i + 4]) for i in range(SIZE)] for a, b in pairs]
    return [min(column) for column in zip(*columns, strict=True)]


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())
