"""What people meet of outputs that models make of samples."""

from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.surface import Surface, Told
from experiments.workflows.battles.campaign.plan import plan_of_outputs
from experiments.workflows.battles.pages import report

SURFACE = Surface(
    name=_("Outputs"),
    description=_(
        "Each model is shown every sample as it is, and nothing else. Its answers become its outputs, which battles can"
        " compare."
    ),
    entries={"output_made": "output-{contestant}-{sample}"},
    unseen=(("output", ""),),
    told=Told(log=report.outputs, table=report.output_lines, is_judged=False),
    assumed=_("Assumed: outputs of 350 tokens, 60 tokens a second. At most: every output as long as it may be."),
    plan=plan_of_outputs,
)
