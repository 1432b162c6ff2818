"""What people meet of outputs that models make of samples."""

from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.surface import LIMIT_FIELDS, Group, SeatRows, Setup, Surface, Told
from experiments.workflows.battles.campaign.estimates import plan_of_outputs
from experiments.workflows.battles.pages import report, setup
from experiments.workflows.battles.pages.views import campaign
from experiments.workflows.outputs import MOST_CONTESTANTS

SETUP = Setup(
    title=_("Ask models for outputs"),
    parts=(
        Group(("subsets",), template="workflows/outputs/_samples.html"),
        SeatRows(
            "makers",
            "contestant",
            least=1,
            most=MOST_CONTESTANTS,
            title=_("Contestants"),
            row=_("Contestant"),
            add=_("Add a contestant"),
            too_few=_("Choose at least one model to ask."),
            hint=_(
                "The same model can take part under several names with different settings. Existing outputs "
                "are not asked for again. Without a name, the model's name is used."
            ),
            params=("temperature", "max_tokens"),
            has_names=True,
        ),
        Group((*LIMIT_FIELDS, "side_by_side"), title=_("Limits"), is_folded=True),
    ),
    labels={"subsets": _("Subsets"), "side_by_side": _("Outputs at once, per run")},
    hints={"title": _("Empty: the name of the dataset.")},
    renamed={"contestants": "makers"},
    offered=("subsets",),
    fill=setup.fill_outputs,
    asked=setup.asked_outputs,
    head="workflows/outputs/_back.html",
    route="outputs-make",
    address="datasets/<slug:slug>/outputs/make/",
    style="workflows/battles/campaign.css",
)

SURFACE = Surface(
    name=_("Outputs"),
    description=_(
        "Each model gets every sample as it is, and nothing else. Its answers become its outputs, which "
        "battles can compare."
    ),
    setup=SETUP,
    page=campaign,
    entries={"output_made": "output-{contestant}-{sample}"},
    unseen=(("output", ""),),
    styles=("workflows/battles/campaign.css",),
    told=Told(settings=lambda rows: (), log=report.outputs, table=report.output_lines, is_judged=False),
    assumed=_("Assumes outputs of 350 tokens, 60 tokens a second. At most: every output at full length."),
    plan=plan_of_outputs,
)
