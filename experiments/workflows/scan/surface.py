"""What people meet of scans, declared."""

from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.dry_run import Assumptions
from experiments.workflows.base.surface import LIMIT_FIELDS, Group, SeatForm, Seats, Setup, Surface, Told
from experiments.workflows.scan.config import JUDGES
from experiments.workflows.scan.pages import report, setup
from experiments.workflows.scan.pages.views import scan_page

SETUP = Setup(
    title=_("Scan"),
    parts=(
        Group(("version", "runs", "again"), template="workflows/scan/_runs.html"),
        Seats(
            (
                SeatForm(
                    "judge",
                    _("Judge"),
                    params=("temperature", "max_tokens"),
                    nobody=_("the instrument's or lab default"),
                    is_tool=True,
                ),
            ),
            title=_("Judge"),
            is_beside=True,
        ),
        Seats(
            tuple(SeatForm(seat, _("Further judge"), nobody=_("none"), is_tool=True) for seat in JUDGES[1:]),
            title=_("Further judges"),
            hint=_("Each judges every unit; where they differ, both values are kept."),
            is_folded=True,
            is_list=True,
        ),
        Group((*LIMIT_FIELDS, "side_by_side"), title=_("Limits"), is_folded=True),
    ),
    labels={
        "version": _("Instrument"),
        "runs": _("Runs"),
        "again": _("Judge again what this judge has judged with this version"),
        "side_by_side": _("Units at once, per run"),
    },
    hints={
        "title": _("Empty: the name of the instrument."),
        "runs": _("The id of one run on each line. The list of runs fills them in."),
    },
    offered=("version",),
    fill=setup.fill,
    initial=setup.initial,
    asked=setup.asked,
)

SURFACE = Surface(
    name=_("Scan"),
    description=_(
        "An instrument measures transcripts that are there already. Each unit is judged once; what is found is stored "
        "as annotations with quotations, which are checked word for word."
    ),
    purpose=_("An instrument measures runs that are there already."),
    icon='<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5M5 7h4"/>',
    setup=SETUP,
    page=scan_page,
    home="scan",
    styles=("workflows/battles/campaign.css",),
    urls="experiments.workflows.scan.pages.urls",
    api_urls="experiments.workflows.scan.pages.cases_api",
    entries={"unit_judged": "judge-{key}"},
    unseen=(("judge", ""),),
    told=Told(settings=lambda rows: (), log=report.units, table=report.unit_lines, is_judged=False),
    assumptions=Assumptions(typical={"judge": 250}),
    assumed=_(
        "Assumes answers of 250 tokens, 60 tokens a second. At most: every answer at full length. Units that cannot be "
        "read are asked again when you resume."
    ),
    plan=setup.plan,
)
