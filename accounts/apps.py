from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = _("People")

    def ready(self) -> None:
        import_module("accounts.checks")
        import_module("accounts.hardening")
        import_module("accounts.receivers").connect()  # it needs the models, which are loaded by now
        import_module("accounts.lasting").connect()
