from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from leaderboard import receivers


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    verbose_name = _("Leaderboard")

    def ready(self) -> None:
        receivers.connect()
