from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = _("People")

    def ready(self) -> None:
        for name in ("checks", "sessions", "audit_hooks"):  # they register themselves, and need the models
            import_module(f"accounts.{name}")
