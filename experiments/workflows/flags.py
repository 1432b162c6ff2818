"""What can be seen to be wrong with a reply without asking: it speaks for the other side, or goes in circles."""

import re
from collections.abc import Sequence

SPEAKS_FOR_OTHER = "speaks_for_other"
REPEATS_ITSELF = "repeats_itself"
REPEATS = 2  # earlier messages that are the same; with this one that makes three
SPEAKER = re.compile(r"^\W{0,4}(?:model|side|agent)\s+([AB])\W{0,3}\s*:", re.IGNORECASE | re.MULTILINE)


def flags(text: str, seat: str, earlier: Sequence[str] = ()) -> list[str]:
    """Flags of one reply of `seat` (A or B). earlier: what the same seat said before, the latest last."""
    others = {name.upper() for name in SPEAKER.findall(text)} - {seat}
    found = [SPEAKS_FOR_OTHER] if others else []
    same = [_normal(before) for before in earlier].count(_normal(text)) if text.strip() else 0
    return [*found, REPEATS_ITSELF] if same >= REPEATS else found


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())
