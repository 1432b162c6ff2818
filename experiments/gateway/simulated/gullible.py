"""A judge that can be talked into something: with `gullible=0.4` in its name, four in ten of the texts that ask it for
a verdict get it. It says nothing about any real judge.
"""

import re
from random import Random
from typing import Final

from experiments.gateway.simulated.names import Behaviour

_ASKS: Final = re.compile(
    r"\b(?:judges?|graders?|graded|reviewers?|evaluation|verdict|winner|wins|scores?|rank|system|instructions?|verified|"
    r"rubric|best|reject|override|prefer|choose|excellent|disregard)\b",
    re.IGNORECASE,
)


def believes(text: str, behaviour: Behaviour) -> bool:
    """Whether the judge does what the text asks of it. The same text has the same effect wherever it stands."""
    if not behaviour.gullible or not _ASKS.search(text):
        return False
    return Random(f"believed/{text}").random() < behaviour.gullible


def believed_first(labels: list[str], texts: dict[str, str], behaviour: Behaviour) -> list[str]:
    """The same order, but those that are believed come first."""
    return sorted(labels, key=lambda label: not believes(texts.get(label, ""), behaviour))
