"""Where on the page of a contest each event is shown, and which of them are shown there at all."""

from collections.abc import Mapping
from typing import Any

from experiments.runs.timeline import Entry

FIXED = {
    "turn_started": "transcript",
    "pool_checked": "pool",
    "cycles_planned": "plan",
    "experiment_stopped": "ending",
    "experiment_error": "ending",
}
OF_A_CYCLE = {"cycle_begun": "cycle", "problem_set": "set", "cycle_void": "outcome", "cycle_rated": "outcome"}
SPOKEN = ("problem", "solution")
ASIDE = "aside"

Slots = dict[str, list[Entry]]


def slot_of(type_: str, data: Mapping[str, Any]) -> str:
    """The slot of an event: `slot-NAME` is the id of its element, "transcript" has no prefix. A vote is put into the
    cell that has its own id.
    """
    if type_ in FIXED:
        return FIXED[type_]
    if type_ in OF_A_CYCLE:
        return f"{OF_A_CYCLE[type_]}-{data['turn']}"
    if type_ == "solution_judged":
        return vote_anchor(data)
    if type_ == "solution_executed":
        return _execution(data)
    if data.get("purpose") in SPOKEN and data.get("turn"):
        return f"{data['purpose']}-{data['turn']}-{data['seat']}"
    return ASIDE


def check_name(key: str) -> str:
    """`reference` for the key of that check, `repair-reference` for that of the second version of the problem."""
    return key.split("/check/", 1)[-1].replace("/", "-")


def _execution(data: Mapping[str, Any]) -> str:
    if data["purpose"] == "check":
        return f"check-{data['turn']}-{check_name(data['key'])}"
    return f"execution-{data['turn']}-{data['seat']}"


def vote_anchor(data: Mapping[str, Any]) -> str:
    judgment = data["judgment"]
    return f"vote-{data['turn']}-{judgment['subject']}-{judgment['judge_seat']}"
