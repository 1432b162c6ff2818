"""The manner of a model: the same solution with its own names, and with comments, without, or with a docstring."""

import re
from dataclasses import replace
from random import Random
from typing import Final

from experiments.gateway.simulated.coding.bank import Solution

_COMMENT: Final = re.compile(r"^ *# .*\n", re.MULTILINE)
_LONGEST_SAID: Final = 90  # characters of a docstring
# Names that no solution uses for an argument given by name, an attribute or a word in a text.
_NAMES: Final = {
    "index": ("position", "which", "idx"),
    "now": ("clock", "moment", "current"),
    "other": ("neighbour", "second", "nxt"),
    "found": ("candidates", "hits", "options"),
    "result": ("answer", "output", "res"),
    "total": ("accumulated", "acc", "summed"),
    "queue": ("pending", "line_up", "heap_or_line"),
    "best": ("cheapest", "lowest", "table"),
    "there": ("destination", "target_place", "goal_place"),
    "pairs": ("matches", "collected", "couples"),
    "seen": ("visited", "done_already", "known_places"),
    "parts": ("pieces", "chunks", "words_so_far"),
    "chosen": ("picked", "winner", "who"),
    "usable": ("valid", "clean", "good_ones"),
    "waiting": ("left_over", "open_ones", "todo"),
    "held": ("owned", "sums", "minutes_held"),
    "litres": ("volumes", "fill", "amounts"),
    "moved": ("shifted", "flow", "poured"),
    "leaves": ("departs", "out_at", "leaving"),
    "finish": ("finished_at", "ends", "done_at"),
    "ways": ("paths", "edges_or_ways", "choices"),
    "lit": ("bright", "reached_by_light", "shining"),
    "load": ("burden", "inside_weight", "carried"),
    "clauses": ("steps", "rules_read", "items"),
}


def in_manner(solution: Solution, function: str, personality: str) -> Solution:
    """The same for the same personality."""
    rng = Random(f"manner/{personality}")
    style = rng.randrange(3)
    code = solution.code
    for name, others in _NAMES.items():
        code = _renamed(code, name, rng.choice([name, *others]))
    if style == 0:
        code = _COMMENT.sub("", code)
    said = solution.explanation.partition(". ")[0].removesuffix(".")
    if style == 1 and len(said) <= _LONGEST_SAID:
        head = re.compile(rf"^(def {function}\(.*\):)$", re.MULTILINE)
        code = head.sub(lambda match: f'{match[1]}\n    """{said}."""', code)
    return replace(solution, code=code)


def _renamed(code: str, name: str, other: str) -> str:
    """Unless the other name is taken, or the name is called, looked up or given as an argument's name somewhere."""
    if re.search(rf"\b{other}\b|\.{name}\b|\b{name}=|def {name}\b|[\"'][^\"'\n]*\b{name}\b[^\"'\n]*[\"']", code):
        return code
    return re.sub(rf"\b{name}\b", other, code)
