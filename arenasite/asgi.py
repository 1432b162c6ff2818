import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
django_application = get_asgi_application()

# Channels and the consumers import models, so they can be loaded only now.
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402 — after the set-up, which they need

from accounts.sockets import Door  # noqa: E402 — after the set-up, which they need
from arenasite.sockets import NamedSockets  # noqa: E402 — after the set-up, which they need
from experiments.routing import websocket_urlpatterns  # noqa: E402 — after the set-up, which they need

application = ProtocolTypeRouter(
    {
        "http": django_application,
        # channels and asgiref differ in how they type an application
        "websocket": NamedSockets(Door(URLRouter(websocket_urlpatterns))),  # type: ignore[arg-type]
    }
)
