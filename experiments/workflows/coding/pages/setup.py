"""What the set-up page of contests shows beside its form: the sandbox, and who sets the problems."""

from collections.abc import Iterator

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from experiments.setup.forms import DeclaredForm
from experiments.workflows.coding.config import LEAST_CODERS
from experiments.workflows.coding.pages import isolation
from experiments.workflows.coding.pages.plan import is_in_turn


def context(request: HttpRequest) -> dict[str, object]:
    return {"sandbox": isolation.sandbox()}


def remarks(form: DeclaredForm) -> Iterator[str]:
    """Who sets the problems, as the form is filled in."""
    models, typed = len(form["coders"].value()), str(form["cycles"].value())
    if models < LEAST_CODERS or not typed.isdecimal():
        return
    each, left = divmod(int(typed), models)
    if not is_in_turn(str(form["setters"].value() or "auto"), int(typed), models):
        words = _("The seed draws a setter for each cycle. In turn comes out even with %(n)s cycles, or a multiple.")
        yield words % {"n": models}
    elif left:
        yield _("In turn, but not evenly: that needs %(n)s cycles, or a multiple.") % {"n": models}
    else:
        words = ngettext("In turn: every model sets once.", "In turn: every model sets %(n)s times.", each)
        yield words % {"n": each}
