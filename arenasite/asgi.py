import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
django_application = get_asgi_application()

# Channels and the consumers import models, so they can be loaded only now.
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from accounts.sockets import Door  # noqa: E402
from arenasite.sockets import NamedSockets  # noqa: E402
from experiments.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": NamedSockets(Door(URLRouter(websocket_urlpatterns))),  # type: ignore[arg-type]
    }
)
