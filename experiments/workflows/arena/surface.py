"""What people meet of the arena."""

from django.utils.translation import gettext_lazy as _

from experiments.workflows.arena.assumptions import ASSUMPTIONS
from experiments.workflows.arena.pages import report
from experiments.workflows.base.surface import Surface, Told

SURFACE = Surface(
    name=_("Arena"),
    description=_("Two models talk, turn by turn. Every field is filled so that it works; only the prompt is yours."),
    home="arena",
    urls="experiments.workflows.arena.pages.urls",
    entries={
        "message_altered": "message-{id}",
        "message_filtered": "message-{id}",
        "intervention": "intervention-{key}",
    },
    again=_("Run again"),
    may_extend=True,
    run_links="workflows/arena/_run_links.html",
    told=Told(settings=report.settings, title=_("Conversation log")),
    assumptions=ASSUMPTIONS,
    assumed=_(
        "Assumed: replies of 350 tokens, 60 tokens a second, no time for your pauses. At most: every reply as long as"
        " it may be."
    ),
)
