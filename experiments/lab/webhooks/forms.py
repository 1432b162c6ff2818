from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from experiments.lab.webhooks import hooks
from experiments.models import Webhook

if TYPE_CHECKING:
    from accounts.models import Project, User


class WebhookForm(forms.Form):
    """A new webhook, or another setting of one. Whether private addresses are allowed is offered to administrators."""

    url = forms.CharField(
        label=_("Address"),
        max_length=hooks.LONGEST_URL,
        widget=forms.URLInput(attrs={"placeholder": "https://", "autocomplete": "off", "spellcheck": "false"}),
    )
    name = forms.CharField(label=_("What is it called? (may be left empty)"), max_length=100, required=False)
    events = forms.MultipleChoiceField(
        label=_("What is it told of?"), choices=[], required=False, widget=forms.CheckboxSelectMultiple
    )
    allow_private = forms.BooleanField(label=_("Private addresses are allowed"), required=False)

    def __init__(self, *args: Any, by: "User", project: "Project | None", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = [(kind.value, kind.label) for kind in hooks.offered_kinds(project)]
        self.fields["events"].choices = offered  # type: ignore[attr-defined]  # a choice field, which Django types as any field
        if not by.is_admin:
            del self.fields["allow_private"]


def initial_of(hook: Webhook) -> dict[str, object]:
    return {name: getattr(hook, name) for name in ("url", "name", "events", "allow_private")}
