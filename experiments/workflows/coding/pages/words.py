"""Why a figure of setters, solvers and judges does not exist, in words."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from experiments.runs import figures

REASONS = {
    "no_votes": _("no vote was counted"),
    "nothing_run": _("the sandbox has run nothing of it"),
    "nothing_paired": _("nobody else voted on the same solutions"),
    "no_spread": _("nothing varied, so nothing says how far it could vary"),
    "constant": _("every value is the same, so that a connection cannot be told from chance"),
    "too_few_units": _("too few to tell"),
    "rests_on_one": _("it rests on a single cycle"),
}


def reason_words(code: str) -> Any:
    return REASONS.get(code) or figures.reason_words(code)
