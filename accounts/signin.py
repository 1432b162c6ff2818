"""Signing in."""

from django.conf import settings
from django.contrib.auth.views import LoginView


class SignInView(LoginView):
    """Shows the demo people in demo mode, where anybody may try the platform."""

    template_name = "accounts/sign_in.html"
    redirect_authenticated_user = True
    extra_context = {"demo_mode": settings.DEMO_MODE}
