from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ExperimentsConfig(AppConfig):
    name = "experiments"
    verbose_name = _("Experiments")

    def ready(self) -> None:
        import_module("experiments.receivers").connect()  # it needs the models, which are loaded by now
