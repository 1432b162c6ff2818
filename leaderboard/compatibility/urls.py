from leaderboard.compatibility import battles, standings  # noqa: F401 - each adds its routes
from leaderboard.compatibility.views import urlpatterns

__all__ = ["urlpatterns"]
