from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.routers import SimpleRouter

from experiments import api

router = SimpleRouter(use_regex_path=False)
router.register("experiments", api.ExperimentViewSet, basename="api-experiment")
router.register("runs", api.RunViewSet, basename="api-run")

urlpatterns = [
    path("health/", api.HealthView.as_view(), name="api-health"),
    path("models/", api.ModelList.as_view(), name="api-models"),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
    path("runs/<uuid:pk>/messages/", api.MessageList.as_view(), name="api-messages"),
    path("runs/<uuid:pk>/judgments/", api.JudgmentList.as_view(), name="api-judgments"),
    path("runs/<uuid:pk>/calls/", api.CallList.as_view(), name="api-calls"),
    path("runs/<uuid:pk>/events/", api.EventList.as_view(), name="api-events"),
    *router.urls,
]
