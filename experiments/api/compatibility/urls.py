"""The addresses as their clients know them: without a slash at the end."""

from django.urls import path

from experiments.api.compatibility import arena, assistant, catalog, council, starchamber

urlpatterns = [
    path("health", catalog.HealthView.as_view(), name="compat-health"),
    path("models", catalog.ModelsView.as_view(), name="compat-models"),
    path("experiment/start", arena.StartView.as_view(), name="compat-start"),
    path("experiment/stop", arena.StopView.as_view(), name="compat-stop"),
    path("experiment/status", arena.StatusView.as_view(), name="compat-status"),
    path("experiment/turn", arena.TurnView.as_view(), name="compat-turn"),
    path("experiment/manual-continue", arena.ManualContinueView.as_view(), name="compat-manual-continue"),
    path("experiment/next-turn", arena.NextTurnView.as_view(), name="compat-next-turn"),
    path("starchamber/start", starchamber.StartView.as_view(), name="compat-starchamber-start"),
    path("starchamber/turn", starchamber.TurnView.as_view(), name="compat-starchamber-turn"),
    path("starchamber/stop", starchamber.StopView.as_view(), name="compat-starchamber-stop"),
    path("starchamber/status", starchamber.StatusView.as_view(), name="compat-starchamber-status"),
    path("conversations", council.ConversationsView.as_view(), name="compat-conversations"),
    path("conversations/<uuid:pk>", council.ConversationView.as_view(), name="compat-conversation"),
    path("conversations/<uuid:pk>/message", council.MessageView.as_view(), name="compat-message"),
    path("conversations/<uuid:pk>/message/stream", council.StreamView.as_view(), name="compat-stream"),
    path("llm/models", assistant.ModelsView.as_view(), name="compat-llm-models"),
    path("llm/test", assistant.TestView.as_view(), name="compat-llm-test"),
]
