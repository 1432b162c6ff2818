"""Reading a reviewer's ballot: in which order it puts the answers that it was shown under labels.

A ballot is read from one JSON object, or from the list under the last "FINAL RANKING" header. Anything else is
Unreadable: what is said about an answer elsewhere is no vote.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from experiments.workflows.ballot_lists import json_list, places_of_json
from experiments.workflows.ballot_text import places_in_text
from experiments.workflows.labels import Place
from experiments.workflows.parsing import Unreadable, json_object

PARTIAL = "partial"
DUPLICATE = "duplicate"
UNKNOWN_LABEL = "unknown_label"
TIES = "ties"
FLAGS = (PARTIAL, DUPLICATE, UNKNOWN_LABEL, TIES)
IN_FENCE = re.compile(r"\A```[a-zA-Z]*[ \t]*\n(.*)\n[ \t]*```\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Ranked:
    """order: labels, the best first, in groups of equals; each label at most once, those that were not ranked left out.

    flags: what was put right: `partial` (an answer is missing), `duplicate` (the first of two places holds),
    `unknown_label` (nobody was shown under it; the places after it move up); and `ties`, where some are equal.
    """

    order: tuple[Place, ...]
    flags: tuple[str, ...]
    reading: Literal["json", "text"]


def read_ballot(text: str, labels: Sequence[str], shown: Iterable[str] = ()) -> Ranked:
    """The ballot in a review. labels: those that the reviewer was shown, such as "Response A". shown: the answers, as
    the reviewer saw them: a ranking copied out of one of them is not the reviewer's. Raises Unreadable.
    """
    structured = _structured(text)
    if structured is None:
        return _checked(places_in_text(text, shown), labels, "text")
    return _checked(places_of_json(structured), labels, "json")


def read_repaired(text: str, labels: Sequence[str]) -> Ranked:
    """The ballot in the answer to a request for nothing but the ranking. Raises Unreadable."""
    structured = _structured(text)
    if structured is None:
        structured = json_object(text).get("ranking")
    return _checked(places_of_json(structured), labels, "json")


def _structured(text: str) -> Any:
    """The ranking, where the whole answer is JSON, in a code fence or not. None where it is prose, or broken: an
    object among prose may be a quotation.
    """
    whole = text.strip().removeprefix("\ufeff")
    fenced = IN_FENCE.match(whole)
    whole = fenced[1].strip() if fenced else whole
    try:
        if whole.startswith("[") and whole.endswith("]"):
            return json_list(whole)
        if whole.startswith("{") and whole.endswith("}"):
            return json_object(whole).get("ranking", [])
    except Unreadable:
        return None
    return None


def _checked(places: Iterable[Place], labels: Sequence[str], reading: Literal["json", "text"]) -> Ranked:
    """Labels for letters, each once. Raises Unreadable when none of the answers is ranked."""
    known = {label.rpartition(" ")[2]: label for label in labels}
    order: list[Place] = []
    ranked: set[str] = set()
    flags: set[str] = set()
    for place in places:
        equals = []
        for letter in place:
            if letter not in known:
                flags.add(UNKNOWN_LABEL)
            elif letter in ranked:
                flags.add(DUPLICATE)
            else:
                ranked.add(letter)
                equals.append(known[letter])
        if equals:
            order.append(tuple(equals))
    if not order:
        raise Unreadable("it ranks none of the answers")
    if len(ranked) < len(known):
        flags.add(PARTIAL)
    if any(len(place) > 1 for place in order):
        flags.add(TIES)
    return Ranked(tuple(order), tuple(flag for flag in FLAGS if flag in flags), reading)
