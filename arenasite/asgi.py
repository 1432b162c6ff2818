import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
django.setup(set_prefix=False)

# Channels and the consumers import models, so they can be loaded only now.
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402 — after the set-up, which they need

from accounts.authentication import SocketAuthentication  # noqa: E402 — after the set-up, which they need
from arenasite.requests import NamedSockets  # noqa: E402 — after the set-up, which they need
from arenasite.server.handling import Handler  # noqa: E402 — after the set-up, which they need
from experiments.routing import websocket_urlpatterns as of_runs  # noqa: E402 — after the set-up, which they need
from leaderboard.routing import websocket_urlpatterns as of_arena  # noqa: E402 — after the set-up, which they need

application = ProtocolTypeRouter(
    {
        "http": Handler(),
        # channels and asgiref differ in how they type an application
        "websocket": NamedSockets(SocketAuthentication(URLRouter([*of_runs, *of_arena]))),  # type: ignore[list-item]
    }
)
