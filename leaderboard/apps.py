from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    verbose_name = _("Leaderboard")

    def ready(self) -> None:
        autodiscover_modules("receivers")  # they know models, which are loaded only now
