"""The script of a workflow that listens to a researcher: its part of the set-up page, and its estimate."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from experiments.models.labels import SCRIPT_CONDITIONS
from experiments.workflows.base.dry_run import Planned, Sample
from experiments.workflows.base.surface import Group

LABELS = {
    "script": _("Script"),
    "script.text": _("Message"),
    "script.when": _("Send it"),
    "script.pattern": _("Words"),
}
CHOICES = {"script.when": SCRIPT_CONDITIONS}


def script_group(hint: Any) -> Group:
    """hint: when its messages are sent, and to whom."""
    return Group(("script",), title=_("Script"), hint=hint, is_folded=True)


def plan(config: Any, seated: Sequence[Any], by: Any) -> Planned:
    """Of a script with conditions every message is counted: what the answers will be is not known."""
    whole = [line.model_copy(update={"when": "always"}) for line in config.script]
    has_conditions = whole != config.script
    return Planned(
        (Sample(config.model_copy(update={"script": whole})),),
        note=_("Counts every message of the script. Conditions may leave some out.") if has_conditions else "",
    )
