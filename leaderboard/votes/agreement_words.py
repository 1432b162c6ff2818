"""Why a figure of agreement does not exist."""

from django.utils.translation import gettext_lazy as _

AGREEMENT_REASONS = {
    "nothing_paired": _("no output was compared by both"),
    "constant": _("all answers are the same, so agreement cannot be told from chance"),
    "too_few_units": _("too few to tell"),
    "mostly_undefined": _("too few to tell"),
    "no_battles": _("nothing was judged in single orders"),
    "separated": _("one side always wins, so no finite number fits"),
    "confounded": _("who stood first goes with who it was, so that one cannot be told from the other"),
}
