"""The form with which more runs of an experiment are started."""

import secrets
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from experiments.models import Experiment
from experiments.runs.actions import MOST_REPEATS
from experiments.workflows.shards import SCORING

HIGHEST_SEED = 2**53
LONGEST_TOKEN = 100


class MoreRuns(forms.Form):
    """token: made with the page, so that sending the same page twice starts its runs once."""

    repeats = forms.IntegerField(label=_("Runs"), min_value=1, max_value=MOST_REPEATS)
    seed = forms.IntegerField(label=_("First seed"), min_value=0, max_value=HIGHEST_SEED, required=False)
    token = forms.CharField(widget=forms.HiddenInput, max_length=LONGEST_TOKEN)

    def asked(self) -> dict[str, Any]:
        """What `actions.start` needs."""
        said = self.cleaned_data
        return {"repeats": said["repeats"], "seed": said["seed"], "idempotency_key": f"page-{said['token']}"}


def fresh_form(experiment: Experiment) -> MoreRuns:
    """Ready to continue the series of seeds."""
    last = experiment.runs.order_by("-seed").values_list("seed", flat=True).first()
    seed = None if last is None or not 0 <= last < HIGHEST_SEED else last + 1
    return MoreRuns(initial={"repeats": 5, "seed": seed, "token": secrets.token_urlsafe(16)})


def may_repeat(experiment: Experiment) -> bool:
    return experiment.workflow not in SCORING  # its runs belong to the run that they judge
