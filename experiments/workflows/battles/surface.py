"""What people meet of battles."""

from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.surface import Surface, Told
from experiments.workflows.battles.assumptions import ASSUMPTIONS
from experiments.workflows.battles.campaign.plan import plan_of_battles
from experiments.workflows.battles.pages import report

SURFACE = Surface(
    name=_("Battles"),
    description=_(
        "The outputs of two contestants on the same sample are shown to a judge, in both orders. Where it prefers the"
        " same one both times, that one wins; where it does not, the battle is a tie and the judge inconsistent."
        " Ratings follow from all battles."
    ),
    home="battles",
    urls="experiments.workflows.battles.pages.urls",
    api_urls="experiments.workflows.battles.pages.api_urls",
    entries={"battle_judged": "battle-{battle}"},
    unseen=(("verdict", ""),),
    told=Told(log=report.battles, table=report.battle_lines, is_judged=False),
    assumptions=ASSUMPTIONS,
    assumed=_(
        "Assumed: verdicts of 300 tokens, 60 tokens a second. At most: every verdict as long as it may be, and asked"
        " for again as often as is allowed."
    ),
    plan=plan_of_battles,
)
