from django.urls import path

from experiments.workflows.battles.pages import api, log_api

urlpatterns = [
    path("datasets/<slug:slug>/battles/", log_api.BattleLogsView.as_view(), name="api-dataset-battles"),
    path("datasets/<slug:slug>/battles/imports/<uuid:pk>/", log_api.LogImportView.as_view(), name="api-log-import"),
    path("experiments/<uuid:pk>/campaign/", api.CampaignView.as_view(), name="api-campaign"),
    path("experiments/<uuid:pk>/stop/", api.StopView.as_view(), name="api-campaign-stop"),
    path("experiments/<uuid:pk>/resume/", api.ResumeView.as_view(), name="api-campaign-resume"),
    path("runs/<uuid:pk>/battles/", api.BattlesOfRun.as_view(), name="api-run-battles"),
    path("battles/", api.BattleList.as_view(), name="api-battles"),
]
