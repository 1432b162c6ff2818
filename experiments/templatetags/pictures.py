"""Pictures with the room they need, so that nothing moves when they arrive."""

from collections.abc import Sequence
from dataclasses import dataclass

from django import template

from experiments.models import Image

register = template.Library()

TALLEST = 240  # of a task's pictures, CSS pixels
MAGNIFIED = 2  # times its size, at most


@dataclass(frozen=True, slots=True)
class Picture:
    """sha256: of the file. width, height: CSS pixels as it is shown; None when the picture is not known."""

    sha256: str
    width: int | None = None
    height: int | None = None


@register.simple_tag
def task_pictures(hashes: Sequence[str]) -> list[Picture]:
    """The pictures that belong to a sample, in its sequence."""
    known = Image.objects.in_bulk(hashes)
    return [_fitted(known[one]) if one in known else Picture(one) for one in hashes]


@register.filter
def magnified(side: int) -> int:
    """How long a side is at most where a picture may be larger than it is."""
    return MAGNIFIED * side


def _fitted(image: Image) -> Picture:
    factor = min(MAGNIFIED, TALLEST / max(1, image.height))
    return Picture(image.sha256, max(1, round(image.width * factor)), max(1, round(image.height * factor)))
