"""The forms of providers, of models, and of the lab's default models."""

from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any, get_args, get_type_hints

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from experiments.gateway.types import Capabilities, Price
from experiments.lab.catalog import defaults, providers
from experiments.lab.catalog.menu import askable_models
from experiments.lab.keys.views import KeyField
from experiments.models import Provider, ProviderModel
from experiments.models.money import MILLION

HIGHEST = 100_000  # dollars per million tokens
SCHEMAS = get_args(get_type_hints(Capabilities)["schema"])
SWITCHES = {
    "temperature": _("Temperature"),
    "seed": _("Seed"),
    "logprobs": _("Token probabilities"),
    "images": _("Images"),
    "reasoning_effort": _("Reasoning effort"),
    "system_role": _("System prompt"),
}


class ProviderForm(forms.ModelForm[Provider]):
    """A provider; a new one with its key."""

    class Meta:
        model = Provider
        fields = providers.SETTINGS
        labels = {
            "name": _("Name"),
            "base_url": _("Base URL"),
            "needs_key": _("Needs a key"),
            "allow_private": _("Allow private addresses"),
            "routes": _("Routes to other providers"),
            "concurrency": _("Max parallel calls per model"),
            "requests_per_minute": _("Max requests per minute and model"),
            "tokens_per_minute": _("Max tokens per minute and model"),
            "api_key_env": _("Environment variable with the key"),
            "usage_api": _("Usage API"),
            "usage_key_env": _("Environment variable with the usage key"),
            "batch_api": _("Batch API"),
            "batch_share": _("Price in a batch"),
        }
        widgets = {
            "base_url": forms.URLInput({"autocomplete": "off", "spellcheck": "false", "placeholder": "https://…/v1"}),
            "name": forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
        }

    key = KeyField()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["key"].required = self.fields["batch_share"].required = False
        if self.instance.pk:
            del self.fields["key"]

    def clean_batch_share(self) -> Decimal:
        """As it is where nothing is said."""
        said: Decimal | None = self.cleaned_data["batch_share"]
        return self.instance.batch_share if said is None else said

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if name in providers.RESERVED:
            raise forms.ValidationError(_("The platform uses this name itself. Choose another one."))
        return name

    def clean_base_url(self) -> str:
        return str(self.cleaned_data["base_url"]).strip().rstrip("/")


class NewModelForm(forms.Form):
    """A model by its name at the provider."""

    provider = forms.ModelChoiceField(Provider.objects.none(), label=_("Provider"), empty_label=None)
    upstream = forms.CharField(label=_("Name at the provider"), max_length=200)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["provider"].queryset = providers.managed()  # type: ignore[attr-defined]  # a model choice field, which Django types as any field

    def clean_upstream(self) -> str:
        name = str(self.cleaned_data["upstream"])
        if not name.isprintable():
            raise forms.ValidationError(_("The name has characters that cannot be sent."))
        return name


def _dollars(label: Any) -> forms.DecimalField:
    widget = forms.NumberInput({"step": "any", "inputmode": "decimal"})
    return forms.DecimalField(label=label, required=False, min_value=0, max_value=HIGHEST, widget=widget)


class ModelChangeForm(forms.ModelForm[ProviderModel]):
    """A model: what it accepts, and what it costs per million tokens from now on."""

    context_tokens = forms.IntegerField(label=_("Context, tokens"), required=False, min_value=1)
    max_output_tokens = forms.IntegerField(label=_("Max output, tokens"), required=False, min_value=1)
    schema = forms.ChoiceField(
        label=_("Structured output"),
        choices=list(zip(SCHEMAS, (_("JSON schema"), _("JSON object"), _("none")), strict=True)),
    )
    accepts = forms.MultipleChoiceField(
        label=_("Accepts"), required=False, choices=list(SWITCHES.items()), widget=forms.CheckboxSelectMultiple
    )
    input = _dollars(_("Input, $ per million tokens"))
    output = _dollars(_("Output, $ per million tokens"))
    cached_input = _dollars(_("Cached input, $ per million tokens"))

    class Meta:
        model = ProviderModel
        fields = ("label", "is_active", "is_tool")
        labels = {"label": _("Label"), "is_active": _("Enabled"), "is_tool": _("Only judges and filters")}

    def __init__(self, data: Any = None, *, instance: ProviderModel, **options: Any) -> None:
        accepts, self.price = instance.accepts, instance.price_at(timezone.now())
        initial = {name: getattr(accepts, name) for name in ("context_tokens", "max_output_tokens", "schema")}
        initial["accepts"] = [name for name in SWITCHES if getattr(accepts, name)]
        for name in ("input", "output", "cached_input"):
            if self.price and (amount := getattr(self.price, name)) is not None:
                initial[name] = (amount * MILLION).normalize()
        super().__init__(data, instance=instance, **{**options, "initial": initial})

    def clean(self) -> dict[str, object]:
        said = self.cleaned_data
        if (said.get("input") is None) != (said.get("output") is None):
            self.add_error("output", _("Enter both prices, or none."))
        return said

    @property
    def sizes(self) -> list[forms.BoundField]:
        return [self[name] for name in ("context_tokens", "max_output_tokens", "schema")]

    @property
    def amounts(self) -> list[forms.BoundField]:
        return [self[name] for name in ("input", "output", "cached_input")]

    @property
    def capabilities(self) -> dict[str, object]:
        """What was changed from what was known, beside what stays."""
        said = self.cleaned_data
        stated = {name: said[name] for name in ("context_tokens", "max_output_tokens", "schema")}
        stated |= {name: name in said["accepts"] for name in SWITCHES}
        known = asdict(self.instance.accepts)
        now = {**self.instance.capabilities, **{name: value for name, value in stated.items() if value != known[name]}}
        return {name: value for name, value in now.items() if value is not None}

    @property
    def new_price(self) -> Price | None:
        """None where nothing is said: the last price stays."""
        said = self.cleaned_data
        if said["input"] is None:
            return None
        per_request = self.price.per_request if self.price else Decimal(0)
        cached = said["cached_input"]
        return Price(
            said["input"] / MILLION, said["output"] / MILLION, None if cached is None else cached / MILLION, per_request
        )


class DefaultsForm(forms.Form):
    """The default model of each seat of `roles`; named as these are."""

    def __init__(self, data: Any = None, *, groups: Sequence[defaults.Roles], **options: Any) -> None:
        known = defaults.chosen()
        options["initial"] = {key: model.slug for key, model in known.items()} | (options.get("initial") or {})
        super().__init__(data, **options)
        models = {model.slug: model for model in askable_models()}
        self.groups = groups
        self.models = {**models, **{model.slug: model for model in known.values()}}
        for group in groups:
            for role in group.roles:
                kept = known.get(role.key)
                offered = [one for one in models.values() if role.is_tool or not one.is_tool]
                offered += [kept] if kept and kept.slug not in models else []
                choices = [("", _("none")), *((one.slug, one.label) for one in offered)]
                self.fields[role.key] = forms.ChoiceField(
                    label=role.label, help_text=role.hint, choices=choices, required=False
                )

    @property
    def wanted(self) -> dict[str, ProviderModel | None]:
        return {key: self.models.get(slug) for key, slug in self.cleaned_data.items()}
