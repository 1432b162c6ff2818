"""The forms of the public arena: a visitor's prompt, and how the lab sets the arena up."""

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from experiments.lab.catalog.menu import askable_models
from experiments.models import ProviderModel
from leaderboard.arena.opening import daily_budget
from leaderboard.models import PublicArena

LONGEST_PROMPT = 20_000
MOST_PER_HOUR = 10_000


class PromptForm(forms.Form):
    """How long a prompt may be is for `battles.begin` to say, which knows the arena."""

    prompt = forms.CharField(label=_("Your prompt"), widget=forms.Textarea({"rows": 5}), strip=False)
    may_publish = forms.BooleanField(label=_("My prompt and both answers may be published"), required=False)


class ArenaForm(forms.Form):
    is_open = forms.BooleanField(label=_("Open to visitors"), required=False)
    models = forms.ModelMultipleChoiceField(
        ProviderModel.objects.none(), label=_("Models"), widget=forms.CheckboxSelectMultiple, required=False
    )
    daily_cost = forms.DecimalField(
        label=_("Daily budget, US dollars"), min_value=Decimal("0.01"), max_value=100_000, required=False
    )
    battles_per_hour = forms.IntegerField(label=_("Battles per address and hour"), min_value=1, max_value=MOST_PER_HOUR)
    longest_prompt = forms.IntegerField(
        label=_("Longest prompt, in characters"), min_value=10, max_value=LONGEST_PROMPT
    )
    is_moderated = forms.BooleanField(label=_("Publish prompts only after review"), required=False)

    def __init__(self, data: Any = None, *, arena: PublicArena) -> None:
        budget, cast = daily_budget(arena), arena.experiment.participants if arena.experiment else None
        initial = {
            "is_open": arena.is_open,
            "models": list(cast.values_list("model", flat=True)) if cast else [],
            "daily_cost": budget.cost_limit.normalize() if budget and budget.cost_limit is not None else None,
            "battles_per_hour": arena.battles_per_hour,
            "longest_prompt": arena.longest_prompt,
            "is_moderated": arena.is_moderated,
        }
        super().__init__(data, initial=initial)
        keys = [one.pk for one in askable_models() if not one.is_tool]
        rows = ProviderModel.objects.filter(pk__in=keys).order_by("label")
        self.fields["models"].queryset = rows  # type: ignore[attr-defined]  # a choice of rows, which Django types as any field
