"""The pages of provider keys: mine, and the lab's."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from accounts.people import for_admins, person, stepped_up_for_secrets
from accounts.refusing import ShownIn, back_to, status_of
from experiments.lab.catalog import unlisted
from experiments.lab.keys import keyring
from experiments.models import Provider, ProviderKey

MODELS_NAMED = 5  # of those that a key opens


class KeyField(forms.CharField):
    """Never filled in again: neither with what is stored nor with what was typed."""

    def __init__(self) -> None:
        widget = forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"})
        super().__init__(label=gettext_lazy("Key"), max_length=keyring.LONGEST + 100, widget=widget)


class AddForm(forms.Form):
    """providers: those that one could be added for."""

    provider = forms.ModelChoiceField(Provider.objects.none(), label=gettext_lazy("Provider"), empty_label=None)
    name = forms.CharField(label=gettext_lazy("Name"), max_length=keyring.LONGEST_NAME, required=False)
    key = KeyField()

    def __init__(self, data: Any = None, *, for_lab: bool, user: Any, **options: Any) -> None:
        super().__init__(data, **options)
        taken = ProviderKey.objects.active()
        taken = taken.of_lab() if for_lab else taken.owned_by(user)
        offered = Provider.objects.filter(is_active=True).exclude(name__in=unlisted.PROVIDERS)
        self.fields["provider"].queryset = offered.exclude(pk__in=taken.values("provider"))  # type: ignore[attr-defined]  # a model choice field, which Django types as any field


class ReplaceForm(forms.Form):
    key = KeyField()


@never_cache
@sensitive_post_parameters("key")
@login_required
@stepped_up_for_secrets
def my_keys(request: HttpRequest) -> HttpResponse:
    """The keys that my own experiments are asked with, before the lab's."""
    return _page(request, for_lab=False)


@never_cache
@sensitive_post_parameters("key")
@for_admins
@stepped_up_for_secrets
def lab_keys(request: HttpRequest) -> HttpResponse:
    """The keys that everybody's experiments are asked with; and that people have some of their own."""
    return _page(request, for_lab=True)


@never_cache
@sensitive_post_parameters("key")
@login_required
@stepped_up_for_secrets
def replace(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Another key in the place of this one."""
    key = _mine(request, pk)
    form = ReplaceForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form, "key"):
            keyring.replace(key, by=person(request), key=form.cleaned_data["key"])
            messages.success(request, _("The key is replaced. New calls use the new one."))
            return redirect(_home(key))
    context = {"form": form, "key": key, "back": _home(key)}
    return render(request, "keys/replace.html", context, status=status_of(form))


@login_required
@require_POST
def test(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Ask the provider, and show on the page of keys what became of it."""
    key = _mine(request, pk)
    back_to(request, _home(key))
    keyring.test(key, by=person(request))
    level = {True: messages.SUCCESS, False: messages.ERROR, None: messages.WARNING}[key.is_accepted]
    messages.add_message(request, level, f"{key.provider.name}: {key.test_sentence}")
    return redirect(_home(key))


@login_required
@require_POST
def remove(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Forget a key; an administrator may end the use of anybody's."""
    is_keeper = keyring.is_keeper(person(request))
    rows = ProviderKey.objects.all() if is_keeper else ProviderKey.objects.owned_by(person(request))
    key = get_object_or_404(rows, pk=pk)
    if keyring.remove(key, by=person(request)):
        messages.success(request, _("The key is removed. New calls do not use it."))
    else:
        messages.info(request, _("This key was no longer in use."))
    return redirect("my-keys" if key.owner_id == request.user.pk else "lab-keys")


def _page(request: HttpRequest, *, for_lab: bool) -> HttpResponse:
    user = person(request)
    wanted = {"provider": request.GET.get("provider", "")}
    form = AddForm(request.POST or None, for_lab=for_lab, user=user, initial=wanted)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form, "key"):
            keyring.add(by=user, for_lab=for_lab, **form.cleaned_data)
            messages.success(
                request, _("The key is stored and will not be shown again. Test it to see whether it works.")
            )
            return redirect("lab-keys" if for_lab else "my-keys")
    active = ProviderKey.objects.active().select_related("provider", "owner", "created_by")
    keys = active.of_lab() if for_lab else active.owned_by(user)
    rows = []
    for key in keys:
        opened = key.provider.models.filter(is_active=True).order_by("label").values_list("label", flat=True)
        rows.append({"key": key, "opens": len(opened), "named": opened[:MODELS_NAMED]})
    context = {
        "form": form,
        "for_lab": for_lab,
        "rows": rows,
        "may_add": for_lab or user.may_experiment,
        "can_add": form.fields["provider"].queryset.exists(),  # type: ignore[attr-defined]  # a model choice field, which Django types as any field
        "is_keeper": keyring.is_keeper(user),
        "of_people": active.filter(owner__isnull=False) if for_lab else (),
    }
    return render(request, "keys/keys.html", context, status=status_of(form))


def _mine(request: HttpRequest, pk: UUID) -> ProviderKey:
    rows = ProviderKey.objects.visible_to(request.user).select_related("provider", "owner")
    return get_object_or_404(rows, pk=pk)


def _home(key: ProviderKey) -> str:
    return "lab-keys" if key.is_of_lab else "my-keys"
