"""What people meet of StarChamber."""

from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.surface import Surface, Told
from experiments.workflows.starchamber.assumptions import ASSUMPTIONS
from experiments.workflows.starchamber.pages import report

SURFACE = Surface(
    name="StarChamber",
    description=_("You question one model. It gets the context below and your words, and nothing else."),
    home="starchamber",
    urls="experiments.workflows.starchamber.pages.urls",
    told=Told(settings=report.settings, title=_("Interview log")),
    assumptions=ASSUMPTIONS,
    assumed=_(
        "Assumed: questions of 60 tokens, answers of 350, 60 tokens a second, no time for your questions. At most:"
        " every answer as long as it may be."
    ),
)
