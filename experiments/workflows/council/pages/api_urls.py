from django.urls import path

from experiments.review import curation_api
from experiments.workflows.council.pages import ranking_api

urlpatterns = [
    path("council/presets/", curation_api.CouncilPresetsView.as_view(), name="api-council-presets"),
    path("council/presets/<uuid:pk>/", curation_api.CouncilPresetView.as_view(), name="api-council-preset"),
    path("runs/<uuid:pk>/ranking/", ranking_api.RankingView.as_view(), name="api-ranking"),
]
