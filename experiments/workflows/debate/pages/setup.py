"""What the set-up page of a debate shows beside its form, and what becomes of the models of its pool."""

from django.conf import settings
from django.http import HttpRequest

from experiments.setup.forms import SetupForm
from experiments.workflows.base.surface import Asked
from experiments.workflows.debate.config import POOL

ROLES = ("refiner", "debater", "summarizer")


def context(request: HttpRequest) -> dict[str, object]:
    """token_limits: the most tokens that an answer of each role may have, as the server has set it."""
    return {"token_limits": {role: min(settings.ROLE_TOKENS[role], settings.ROLE_TOKENS_CAP) for role in ROLES}}


def asked(form: SetupForm, asked: Asked) -> Asked:
    """The pool is seated from its first place on, whichever of its fields were filled in."""
    seats, refine = asked["cast"], form.cleaned_data["refine"]
    kept = {seat: one for seat, one in seats.items() if seat not in POOL and (seat != "refiner" or refine)}
    pool = zip(POOL, (seats[seat] for seat in POOL if seat in seats), strict=False)
    return {**asked, "cast": kept | dict(pool)}
