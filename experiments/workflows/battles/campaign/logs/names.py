"""Names of contestants as names of files: readable, and no two of them the same."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping

UNSAFE = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')
RUNS = re.compile("_+")
JOINT = "_vs_"
LONGEST = 80  # bytes: two of them, the joint and the ending fit into what file systems allow


def sanitised(name: str) -> str:
    """The name without what file systems forbid, as earlier arenas wrote it. Different names may come out alike."""
    return RUNS.sub("_", UNSAFE.sub("_", name)).strip("_. ")


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Names to names of files: sanitised, with a mark of their own where that alone would not tell them apart.

    Marked is what comes out like another name (whatever the case of letters), what holds the joint of two names, what
    is too long and what would be empty. The mark depends on the name alone.
    """
    plain = {name: sanitised(name) for name in names}
    alike = Counter(short.casefold() for short in plain.values())
    return {name: _marked(name, short) if _needs_mark(short, alike) else short for name, short in plain.items()}


def pair_file(first: str, second: str, files: Mapping[str, str]) -> str:
    """The name of a pair's log. files: of `file_names`."""
    return f"{files[first]}{JOINT}{files[second]}.jsonl"


def _needs_mark(short: str, alike: Counter[str]) -> bool:
    return not short or alike[short.casefold()] > 1 or JOINT in f"_{short}_" or len(short.encode()) > LONGEST


def _marked(name: str, short: str) -> str:
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    kept = short.encode()[: LONGEST - 9].decode(errors="ignore")
    return f"{kept}~{mark}"
