"""What people meet of a transcript that is judged again."""

from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.surface import Surface, Told
from experiments.workflows.judging.pages import rejudging, report

SURFACE = Surface(
    name=_("Judged again"),
    description=_("An existing transcript is scored again, by another judge or another rubric."),
    urls="experiments.workflows.judging.pages.urls",
    look=lambda config: str(config["workflow"]),
    context=lambda reader, run, entries: {"rejudged": rejudging.of(run, reader)},
    title=_("%(title)s, judged again"),
    told=Told(settings=report.settings, has_talk=False),
)
