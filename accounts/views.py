"""A person's own account."""

from collections.abc import Container

from allauth.account import views as allauth_account
from allauth.account.internal.flows.login import record_authentication
from allauth.account.models import EmailAddress
from allauth.account.utils import perform_login
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import UserCreationForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, override
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from accounts import audit, first_admin, tokens
from accounts.addresses import NOWHERE
from accounts.models import ApiToken, Membership, User
from accounts.people import person, stepped_up
from accounts.scopes import Scope
from accounts.sessions import browser_of, end_session, end_sessions

THEMES = ("auto", "light", "dark")
YEAR = 365 * 24 * 3600


class TokenForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=tokens.LONGEST_NAME)
    days = forms.IntegerField(
        label=gettext_lazy("Valid for (days)"), min_value=1, max_value=tokens.MOST_DAYS, initial=tokens.DEFAULT_DAYS
    )
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Scopes"),
        choices=Scope.choices,
        initial=[Scope.READ, Scope.WRITE, Scope.SPEND],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one.")},
    )


class FirstAdministratorForm(UserCreationForm[User]):
    class Meta(UserCreationForm.Meta):
        model = User


@login_required
@stepped_up
def account(request: HttpRequest) -> HttpResponse:
    """Who I am, how I sign in, where I am signed in, my projects and my API tokens. A new token is shown once, on the
    page that answers the form.
    """
    who, form, token = person(request), TokenForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        token = tokens.create_token(who, **form.cleaned_data)
        form = TokenForm()
    factors = Authenticator.objects.filter(user=who).exclude(type=Authenticator.Type.RECOVERY_CODES)
    context = {
        "form": form,
        "token": token,
        "tokens": ApiToken.objects.filter(user=who).order_by("-created"),
        "emails": EmailAddress.objects.filter(user=who).order_by("-primary", "email"),
        "factors": factors.order_by("-type"),  # passkeys first
        "sign_ins": [
            {
                "browser": browser_of(one.user_agent),
                "address": one.ip if one.ip != NOWHERE else "",
                "since": one.created_at,
                "pk": one.pk,
                "is_this": one.session_key == request.session.session_key,
            }
            for one in sorted(UserSession.objects.purge_and_list(who), key=lambda one: one.created_at, reverse=True)
        ],
        "memberships": Membership.objects.filter(user=who).select_related("project").order_by("project__name"),
    }
    response = render(request, "accounts/account.html", context)
    response["Cache-Control"] = "no-store"
    return response


@login_required
@require_POST
@stepped_up
def sign_out_one(request: HttpRequest, pk: int) -> HttpResponse:
    sign_in = get_object_or_404(UserSession, user=request.user, pk=pk)
    end_session(person(request), sign_in)
    messages.success(request, _("That sign-in has ended."))
    return redirect("account")


@login_required
@require_POST
@stepped_up
def sign_out_elsewhere(request: HttpRequest) -> HttpResponse:
    ended = end_sessions(person(request), keep=request.session.session_key)
    if ended:
        audit.record(audit.Action.SIGNED_OUT, by=request.user, of=person(request), elsewhere=ended)
    text = ngettext("%(n)d other sign-in has ended.", "%(n)d other sign-ins have ended.", ended)
    messages.success(request, text % {"n": ended} if ended else _("You are not signed in anywhere else."))
    return redirect("account")


@login_required
@require_POST
@stepped_up
def revoke_token(request: HttpRequest, token_key: str) -> HttpResponse:
    token = get_object_or_404(ApiToken, user=request.user, token_key=token_key)
    tokens.revoke_token(token, by=person(request))
    messages.success(request, _("The token is revoked."))
    return redirect("account")


def forgotten_password(request: HttpRequest) -> HttpResponse:
    """A letter with a link, or where there is no mail server the word whom to ask."""
    if not settings.HAS_MAIL:
        return render(request, "account/password_reset.html")
    answer: HttpResponse = allauth_account.password_reset(request)
    return answer


@never_cache
@sensitive_post_parameters("password1", "password2")
def first_administrator(request: HttpRequest, token: str) -> HttpResponse:
    """The page behind the one-time link: creates the first administrator, and signs them in. 404 once there is one."""
    if not first_admin.is_needed():
        raise Http404
    if not first_admin.is_valid(token):
        return render(request, "accounts/first_administrator.html", status=404)
    form = FirstAdministratorForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        who = form.save(commit=False)
        first_admin.create(who, token)
        # Verification by mail is left out: it must not keep the only administrator out.
        record_authentication(request, who, "password", reauthenticated=True)  # which was typed a moment ago
        answer: HttpResponse = perform_login(request, who, email_verification="none", redirect_url=reverse("start"))
        return answer
    return render(request, "accounts/first_administrator.html", {"form": form})


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Switch the language for this browser and, when signed in, for the account."""
    language = request.POST.get("language", "")
    if language in dict(settings.LANGUAGES):
        if isinstance(request.user, User):
            User.objects.filter(pk=request.user.pk).update(language=language)
        with override(language):
            messages.success(request, _("The language is changed."))
    return _kept(request, settings.LANGUAGE_COOKIE_NAME, language, choices=dict(settings.LANGUAGES))


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    return _kept(request, settings.THEME_COOKIE_NAME, request.POST.get("theme", ""), choices=THEMES)


def _kept(request: HttpRequest, cookie: str, value: str, *, choices: Container[str]) -> HttpResponse:
    """Back to the page the form was on, if it is one of ours; the choice is in a cookie, if it is one."""
    target = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(target, {request.get_host()}, settings.HTTPS)
    response = redirect(target if is_ours else "/")
    if value in choices:
        response.set_cookie(cookie, value, max_age=YEAR, samesite="Lax", secure=settings.HTTPS)
    return response
