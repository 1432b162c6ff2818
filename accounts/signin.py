"""Signing in."""

from django.contrib.auth.views import LoginView


class SignInView(LoginView):
    template_name = "accounts/sign_in.html"
    redirect_authenticated_user = True
