"""Ballots as a review writes them, read."""

import pytest

from experiments.workflows.ballots import read_ballot
from experiments.workflows.labels import labels_for
from experiments.workflows.parsing import Unreadable

ABC = labels_for(3)
REVIEW = "Response A is clear. Response B is vague; Response C says most.\n\n"
CAB = (("Response C",), ("Response A",), ("Response B",))


def read(text, labels=ABC, shown=()):
    ballot = read_ballot(text, labels, shown)
    return ["=".join(label.removeprefix("Response ") for label in place) for place in ballot.order], list(ballot.flags)


def under_header(section):
    return read(f"{REVIEW}FINAL RANKING:\n{section}")


def unread(text, labels=ABC, shown=()):
    with pytest.raises(Unreadable) as reason:
        read_ballot(text, labels, shown)
    return str(reason.value)
