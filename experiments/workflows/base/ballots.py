"""Reading a reviewer's ballot: in which order it puts the answers that it was shown under labels.

A ballot is read from one JSON object, or from the list under the last "FINAL RANKING" header. Anything else is
Unreadable: what is said about an answer elsewhere is no vote.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from experiments.workflows.base.ballot_lists import places_of_json, ranking_in
from experiments.workflows.base.ballot_text import has_header, places_in_text
from experiments.workflows.base.json_reader import Found, Missing, find_json
from experiments.workflows.base.labels import Place
from experiments.workflows.base.parsing import Unreadable

PARTIAL = "partial"
DUPLICATE = "duplicate"
UNKNOWN_LABEL = "unknown_label"
TIES = "ties"
FLAGS = (PARTIAL, DUPLICATE, UNKNOWN_LABEL, TIES)
NAMES = ("ranking",)


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
    answers = tuple(shown)
    found = find_json(text, NAMES, or_list=True)
    if isinstance(found, Found) and (found.is_whole or _is_own(found.value, text, answers)):
        return _structured(found, labels)
    return _checked(places_in_text(text, answers), labels, "text")


def read_repaired(text: str, labels: Sequence[str]) -> Ranked:
    """The ballot in the answer to a request for nothing but the ranking. Raises Unreadable."""
    return _structured(find_json(text, NAMES, or_list=True), labels)


def _structured(found: Found | Missing, labels: Sequence[str]) -> Ranked:
    if isinstance(found, Missing):
        raise Unreadable(found.message)
    return _checked(places_of_json(ranking_in(found.value)), labels, "json")


def _is_own(answer: dict[str, Any] | list[Any], text: str, shown: Iterable[str]) -> bool:
    """Whether JSON among prose is the ballot: an object, without a list under a header, and copied from no answer."""
    if isinstance(answer, list) or has_header(text):
        return False
    ranking = _squeezed(answer["ranking"])
    return not any(ranking in _squeezed(answer) for answer in shown)


def _squeezed(value: Any) -> str:
    """Without blanks and marks: by this a copy is told."""
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "".join(sign for sign in written.casefold() if not sign.isspace() and sign not in "*`")


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
