"""What people meet of a council."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.surface import Surface, Told
from experiments.workflows.council.assumptions import ASSUMPTIONS
from experiments.workflows.council.pages import pages, report, shapes


def _ballot(data: Mapping[str, Any]) -> str:
    """The ballot shows with the review it was read from, where there is one."""
    message = data["message"]
    return f"message-{message['id']}" if message else f"ballot-{data['ballot']['id']}"


SURFACE = Surface(
    name=_("Council"),
    description=_(
        "Every member answers alone. Then everybody ranks the answers without knowing whose they are, and the chair"
        " draws the conclusion."
    ),
    home="council",
    urls="experiments.workflows.council.pages.urls",
    api_urls="experiments.workflows.council.pages.api_urls",
    entries={
        "ballot_read": _ballot,
        "ballots_counted": "count-{turn}-{count}",
        "concluded_by_rank": "concluded-{key}",
    },
    context=pages.context,
    again=_("Run again"),
    findings=shapes.FINDINGS,
    told=Told(
        settings=report.settings, title=_("What the council said"), turn=_("Question %(turn)s"), stage=report.stage_of
    ),
    assumptions=ASSUMPTIONS,
    assumed=_(
        "For one question. Assumed: answers of 350 tokens, 60 tokens a second, members side by side. At most: every"
        " answer as long as it may be and empty at first, so that it is asked for again with more tokens, every ballot"
        " asked for twice, every chair in turn."
    ),
)
