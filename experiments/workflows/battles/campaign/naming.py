"""What contestants are called that are asked for their outputs here."""

from typing import Any

from experiments.models import Participant

SEAT = "contestant-"


def name_of(config: Any, participant: Participant) -> str:
    """What the contestant of a seat is called: as the configuration says, else as its model."""
    number = int(participant.seat.removeprefix(SEAT)) - 1
    return str(config.contestants[number]) if number < len(config.contestants) else participant.model.label[:200]
