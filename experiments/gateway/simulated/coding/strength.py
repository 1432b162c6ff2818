"""How well each simulated model programs, how hard it judges, and how sure its judgment is."""

from random import Random
from typing import Final

from experiments.gateway.simulated.names import Behaviour

_STRENGTHS: Final = {
    "coder-oak": 0.92,
    "coder-elm": 0.78,
    "coder": 0.7,
    "coder-fir": 0.62,
    "coder-ash": 0.45,
    "coder-yew": 0.25,
    "competitive": 0.82,
    "practical": 0.74,
    "sceptical": 0.66,
    "neutral": 0.58,
    "cooperative": 0.52,
    "deceptive": 0.44,
    "refusing": 0.36,
    "drifting": 0.3,
    "judge": 0.68,
    "filter": 0.28,
    "vision-judge": 0.5,
}


def strength_of(behaviour: Behaviour) -> float:
    """0 to 1."""
    return behaviour.strength if behaviour.strength is not None else _STRENGTHS[behaviour.personality]


def severity_of(behaviour: Behaviour) -> float:
    """Marks that it takes off everybody's, -0.8 (lenient) to 1.4 (harsh)."""
    return Random(f"severity/{behaviour.personality}").uniform(-0.8, 1.4)


def noise_of(behaviour: Behaviour) -> float:
    """The standard deviation of its marks: whoever programs badly judges at random."""
    return 0.25 + 0.9 * (1 - strength_of(behaviour))
