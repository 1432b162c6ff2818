"""A person's own account."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.http import require_POST

from accounts.forms import TokenForm
from accounts.models import ApiToken, User
from accounts.people import person
from accounts.tokens import create_token

THEMES = ("auto", "light", "dark")
YEAR = 365 * 24 * 3600


@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Who I am, and my API tokens. A new token is shown once, on the page that answers the form."""
    form = TokenForm(request.POST or None)
    token = ""
    if request.method == "POST" and form.is_valid():
        token = create_token(person(request), **form.cleaned_data)
        form = TokenForm()
    tokens = ApiToken.objects.filter(user=request.user).order_by("-created")
    response = render(request, "accounts/account.html", {"form": form, "token": token, "tokens": tokens})
    response["Cache-Control"] = "no-store"
    return response


@login_required
@require_POST
def revoke_token(request: HttpRequest, token_key: str) -> HttpResponse:
    get_object_or_404(ApiToken, user=request.user, token_key=token_key).delete()
    messages.success(request, _("The token is void."))
    return redirect("account")


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Switch the language for this browser and, when signed in, for the account."""
    language = request.POST.get("language", "")
    response = redirect(_back(request))
    if language in dict(settings.LANGUAGES):
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME, language, max_age=YEAR, samesite="Lax", secure=settings.HTTPS
        )
        if isinstance(request.user, User):
            User.objects.filter(pk=request.user.pk).update(language=language)
        with override(language):
            messages.success(request, _("The language is changed."))
    return response


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    theme = request.POST.get("theme", "")
    response = redirect(_back(request))
    if theme in THEMES:
        response.set_cookie("arena_theme", theme, max_age=YEAR, samesite="Lax", secure=settings.HTTPS)
    return response


def _back(request: HttpRequest) -> str:
    """The page the form was on, if it is one of ours."""
    target = request.POST.get("next", "")
    return target if url_has_allowed_host_and_scheme(target, {request.get_host()}, settings.HTTPS) else "/"
