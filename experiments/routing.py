from django.urls import path

from experiments.runs.live.consumers import RunConsumer

websocket_urlpatterns = [
    path("ws/runs/<uuid:run_id>/", RunConsumer.as_asgi()),  # type: ignore[arg-type]  # channels and asgiref differ in how they type an application
]
