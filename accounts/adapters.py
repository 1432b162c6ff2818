"""Where django-allauth asks what holds in this lab."""

import time
from collections.abc import Callable
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from allauth.account.forms import LoginForm
from allauth.account.models import EmailAddress
from allauth.account.stages import EmailVerificationStage
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts import audit, crypto, guessing, invitations, sessions
from accounts.addresses import NOWHERE, address_of
from accounts.errors import RateLimited
from accounts.models import User

MISMATCH = _("Wrong name or password. Passwords are case-sensitive.")
TOO_OFTEN = _("Too many attempts. Wait five minutes, then try again.")
ELSEWHERE = _(
    "You can sign up with addresses of the lab only: %(domains)s. With another address, ask for an invitation."
)
THROTTLED_SECONDS = 60  # in which tries that were not even looked at are written down once


class SignInForm(LoginForm):  # type: ignore[misc]  # allauth has no types
    """A user name or an e-mail address, in a field that is called as it always was."""

    def add_prefix(self, field_name: str) -> str:
        return str(super().add_prefix("username" if field_name == "login" else field_name))


class FirstVerificationStage(EmailVerificationStage):  # type: ignore[misc]  # allauth has no types
    """A new person's address is verified before the first sign-in; whoever has been in is not held up."""

    def handle(self) -> tuple[Any, bool]:
        person: User | None = self.login.user
        return (None, True) if person and person.last_login else super().handle()


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": MISMATCH,
        "email_password_mismatch": MISMATCH,
        "too_many_login_attempts": TOO_OFTEN,
        "rate_limited": TOO_OFTEN,
        "incorrect_password": _("This is not your password."),
        "enter_current_password": _("This is not your password."),
        "email_taken": _("An account has this address already. Sign in, or use another address."),
    }

    def get_client_ip(self, request: HttpRequest) -> str:
        return address_of(request) or NOWHERE

    # --- signing up ---

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return invitations.is_sign_up_open(request)

    def clean_email(self, email: str) -> str:
        """A new person's; whoever is in the lab may have what addresses they like."""
        email = super().clean_email(email)
        is_new = not self.request.user.is_authenticated and invitations.held(self.request) is None
        if email and is_new and settings.SIGNUP == "domain" and not invitations.is_of_the_lab(email):
            raise ValidationError(ELSEWHERE % {"domains": ", ".join(settings.SIGNUP_DOMAINS)})
        return str(email)

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        user = super().save_user(request, user, form, commit=False)
        if commit:
            self.let_in(request, user, user.save)
        return user

    def let_in(self, request: HttpRequest, user: User, save: Callable[[], Any]) -> None:
        """Saves a new person and uses up the invitation, both or neither."""
        with transaction.atomic():
            save()
            vouched_for = invitations.settle_sign_up(request, user)
        if vouched_for:
            self.stash_verified_email(request, vouched_for)

    # --- signing in ---

    def get_login_stages(self) -> list[str]:
        first, usual = (f"{it.__module__}.{it.__name__}" for it in (FirstVerificationStage, EmailVerificationStage))
        return [first if stage == usual else stage for stage in super().get_login_stages()]

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Instead of allauth's own limit, which counts by name alone: with it, strangers kept people out."""
        try:
            self._attempt = guessing.count_attempt(request, _name_in(credentials))
        except RateLimited as refusal:
            if cache.add(f"throttled:{address_of(request)}", 1, THROTTLED_SECONDS):
                _record_failure(credentials, throttled=True)
            raise ValidationError(str(refusal), code="too_many_login_attempts") from refusal

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """A deactivated person gets the same answer as somebody with a wrong password."""
        user: User | None = super().authenticate(request, **credentials)
        if user and not user.is_active:
            _record_failure(credentials, deactivated=True)
            return None
        if user:
            guessing.give_back(self._attempt)
        return user

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        _record_failure(credentials)

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **kwargs)
        guessing.remember_browser(request, response, user)
        return response

    def logout(self, request: HttpRequest) -> None:
        if request.user.is_authenticated:
            audit.record(audit.Action.SIGNED_OUT, by=request.user, of=request.user)
            UserSession.objects.filter(session_key=request.session.session_key).delete()
        super().logout(request)

    # --- the account ---

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Whoever has signed in a moment ago need not type the password again."""
        since = time.time() - settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
        records = get_authentication_records(self.request, self.request.user)
        has_just_signed_in = any(record["at"] > since for record in records)
        return not has_just_signed_in and bool(super().is_reauthentication_required(app=app, **kwargs))

    def set_password(self, user: User, password: str) -> None:
        """Changed, set or reset: ends all other sign-ins of the person."""
        user.set_password(password)
        is_own = self.request.user == user
        with transaction.atomic():
            user.save(update_fields=["password"])
            sessions.end_sessions(user, keep=self.request.session.session_key if is_own else None)
            audit.record(audit.Action.PASSWORD_CHANGED, by=user, of=user, by_mail=not is_own)
        guessing.forget_attempts(self.request, user)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def get_email_verification_redirect_url(self, email_address: EmailAddress) -> str:
        return resolve_url("account_email" if self.request.user.is_authenticated else settings.LOGIN_URL)


def _record_failure(credentials: dict[str, Any], **detail: Any) -> None:
    audit.record(audit.Action.SIGN_IN_FAILED, by=None, name=_name_in(credentials), **detail)


def _name_in(credentials: dict[str, Any]) -> str:
    return str(credentials.get("username") or credentials.get("email") or "")


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": _("This is not the current code. Wait for the next one and enter that."),
    }

    def encrypt(self, text: str) -> str:
        return crypto.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Raises Undecipherable when the secret of the lab that it was made with is gone."""
        return crypto.decrypt(encrypted_text)


class LabAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """For people for whom the lab's sign-in server vouches."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return invitations.is_sign_up_open(request, [address.email for address in sociallogin.email_addresses])

    def authenticate_by_email(self, sociallogin: Any) -> tuple[User, str] | None:
        """An account that is here already is joined only where both sides have verified the address: else whoever has
        typed somebody's address into an account would be found in their place.
        """
        verified = [address.email for address in sociallogin.email_addresses if address.verified]
        known = EmailAddress.objects.filter(email__in=verified, verified=True).select_related("user").first()
        return (known.user, known.email) if known else None

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        user: User = sociallogin.user
        if form:
            with transaction.atomic():
                return super().save_user(request, sociallogin, form)  # type: ignore[no-any-return]  # allauth has no types
        user.set_unusable_password()
        adapter = AccountAdapter(request)
        adapter.populate_username(request, user)
        adapter.let_in(request, user, lambda: sociallogin.save(request))
        return user
