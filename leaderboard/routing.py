from django.urls import path

from leaderboard.arena.live import BattleConsumer

websocket_urlpatterns = [
    path("ws/public-arena/<uuid:pk>/", BattleConsumer.as_asgi()),  # type: ignore[arg-type]  # channels and asgiref differ in how they type an application
]
