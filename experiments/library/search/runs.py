"""Runs that are found by words, for the lists of runs."""

from dataclasses import replace

from django.db.models import Q

from experiments.library.search.indexing import MESSAGE, OF_SETUPS
from experiments.library.search.query import Phrase, Sought, read
from experiments.models import Passage


def beginnings(text: str) -> tuple[Phrase, ...]:
    """The words and phrases of a text, each found by its beginning, as somebody types. A word of one or two letters
    is found as it stands: too many others begin so.
    """
    return tuple(Phrase(one.words, one.is_open or len(one.words[-1]) > 2) for one in read(text).phrases)


def set_up_with(sought: Sought) -> Q:
    """Runs of experiments whose title, prompts or models fit."""
    of_setups = replace(sought, marks=(*sought.marks, (OF_SETUPS,)))
    found = Passage.objects.filter(words__matches=of_setups) if sought else Passage.objects.none()
    return Q(experiment__in=found.order_by().values("experiment"))


def with_message(sought: Sought) -> Q:
    """Runs in which a message fits."""
    found = Passage.objects.filter(kind=MESSAGE, words__matches=sought)
    return Q(pk__in=(found if sought else found.none()).order_by().values("run"))
