"""The roles of Multi-LLM Assistant: who answers for them, what they are told, and how long an answer may be."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.models import Experiment
from experiments.workflows.base.prompts import fenced, fill
from experiments.workflows.debate import WORKFLOW as DEBATE
from experiments.workflows.debate.answers import Part
from experiments.workflows.debate.forms import ACTIONS, BRIEF, POINTS
from experiments.workflows.debate.prompting import VIEWS

if TYPE_CHECKING:
    from accounts.models import User

SEATS = {"refiner": "refiner", "debater_a": "A", "debater_b": "B", "debater_c": "C", "summarizer": "summarizer"}
ROLES = list(SEATS)
LIMITS = {"refiner": 500, "debater_a": 800, "debater_b": 800, "debater_c": 800, "summarizer": 900}  # tokens
POINTS_ASKED = {"A": 3, "B": 3, "C": 3}
COUNTERPOINTS_ASKED = {"A": 0, "B": 2, "C": 2}


def roles_of(person: "User", slugs: Sequence[str]) -> dict[str, str]:
    """Roles to models. slugs: those that can be asked, which stand in for models that cannot."""
    last = Experiment.objects.owned_by(person).filter(workflow=DEBATE.slug).order_by("-created").first()
    seated = dict(last.participants.values_list("seat", "model__slug")) if last else {}
    known = {role: seated.get(seat, "") for role, seat in SEATS.items()}
    return {role: slug if slug in slugs else slugs[0] for role, slug in known.items()} if slugs else {}


def prompts_of(role: str, prompt: str, system: str, *, token: str) -> tuple[str, str]:
    """What a role is told, and what it is asked: as the client says, or by our own instructions, with the client's
    words between markers.
    """
    if system.strip():
        return system, prompt
    return _instructions(role, token), fenced("request", prompt, token)


def _instructions(role: str, token: str) -> str:
    language = fill("debate/language", named="")
    if role == "refiner":
        return fill("debate/refiner", language=language, token=token, form=BRIEF)
    if role == "summarizer":
        return fill("debate/summarizer", language=language, token=token, form=ACTIONS)
    seat = SEATS[role]
    part = Part(seat, 1, POINTS_ASKED[seat], COUNTERPOINTS_ASKED[seat])
    counter = (
        fill("debate/counter", counterpoints=part.counterpoints) if part.counterpoints else fill("debate/no_counter")
    )
    said = {"seat": seat, "view": fill(VIEWS[seat]), "points": part.points, "counter": counter}
    return fill("debate/debater", **said, language=language, token=token, form=POINTS % seat)
