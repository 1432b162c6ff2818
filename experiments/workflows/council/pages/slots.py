"""Where on the page of a council each event is shown."""

import re
from collections.abc import Mapping
from typing import Any

from experiments.workflows.council.config import MEMBERS

SPOKEN_BY = {"reply": MEMBERS, "review": MEMBERS, "conclusion": ("chair",)}
REVIEWING = ("repair",)  # calls beside a review, shown with it
TURN = re.compile(r"turn/(\d+)/")
FIXED = {"turn_started": "transcript", "offer_opened": "offer", "waiting_for_user": "offer"}
ENDINGS = ("experiment_stopped", "experiment_error")
OF_THE_CONCLUSION = ("seat_replaced", "concluded_by_rank")
ASIDE = "aside"


def slot_of(type_: str, data: Mapping[str, Any]) -> str:
    """The slot of an event: `slot-NAME` is the id of its element, "transcript" has no prefix."""
    if type_ in FIXED:
        return FIXED[type_]
    if type_ in ENDINGS:
        return "ending"
    turn = _turn(data)
    if not turn:
        return ASIDE
    if type_ == "stage_started":
        return f"stage-{turn}"
    if type_ == "ballots_counted":
        return f"ranking-{turn}"
    if type_ == "ballot_read":
        return f"review-{turn}-{data['ballot']['reviewer']}"
    if type_ in OF_THE_CONCLUSION:
        return f"conclusion-{turn}-chair"
    if data.get("seat") == "person":
        return f"question-{turn}"
    return _of_seat(data, turn)


def _turn(data: Mapping[str, Any]) -> int:
    if "ballot" in data:
        return int(data["ballot"]["turn"])
    found = TURN.match(str(data.get("key", "")))
    return int(data.get("turn") or (found[1] if found else 0))


def _of_seat(data: Mapping[str, Any], turn: int) -> str:
    purpose = "review" if data.get("purpose") in REVIEWING else str(data.get("purpose", ""))
    return f"{purpose}-{turn}-{data['seat']}" if data.get("seat") in SPOKEN_BY.get(purpose, ()) else ASIDE
