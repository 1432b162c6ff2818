"""Corrects misspelled searches with the nearest words of titles, names of datasets and tags."""

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from experiments.library.search.finding import find
from experiments.library.search.query import Asked
from experiments.library.search.words import folded_words, words
from experiments.models import Dataset, Experiment, Tag

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

MOST = 2_000  # of each: titles, names and tags, the newest
SHORTEST = 4  # letters of a word that may be misspelled
ALIKE = 0.75


def suggestion(asked: Asked, person: "User | AnonymousUser") -> str:
    """The text with other words, by which something is found. Empty: there is none."""
    wanted = {word for one in asked.phrases if not one.is_open for word in one.words if len(word) >= SHORTEST}
    known = _known(person) if wanted else set[str]()
    nearest = {word: match for word in wanted - known if (match := _nearest(word, known))}
    if not nearest:
        return ""
    text = asked.text
    for word in reversed(list(words(text))):
        text = text[: word.start] + nearest.get(word.folded, text[word.start : word.end]) + text[word.end :]
    phrases = (replace(one, words=tuple(nearest.get(word, word) for word in one.words)) for one in asked.phrases)
    return text if find(replace(asked, text=text, phrases=tuple(phrases)), person, most=1) else ""


def _known(person: "User | AnonymousUser") -> set[str]:
    """The words that the person may see."""
    titles = Experiment.objects.visible_to(person).order_by("-pk").values_list("title", flat=True)[:MOST]
    names = Dataset.objects.visible_to(person).order_by("-pk").values_list("name", flat=True)[:MOST]
    tags = Tag.objects.visible_to(person).order_by("-pk").values_list("name", flat=True)[:MOST]
    return {word for text in (*titles, *names, *tags) for word in folded_words(text, len(text))}


def _nearest(word: str, known: set[str]) -> str:
    of_like_length = sorted(one for one in known if len(one) >= SHORTEST and abs(len(one) - len(word)) <= 2)
    return next(iter(get_close_matches(word, of_like_length, n=1, cutoff=ALIKE)), "")
