from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.routers import SimpleRouter

from experiments import (
    api,
    battle_log_api,
    campaign_api,
    dataset_api,
    library_api,
    ranking_api,
    record_api,
    report_api,
    run_api,
    statistics_api,
)
from experiments.contests import api as cycle_api
from experiments.vote_api import OfferView, VoteView

router = SimpleRouter(use_regex_path=False)
router.register("experiments", api.ExperimentViewSet, basename="api-experiment")
router.register("runs", run_api.RunViewSet, basename="api-run")
router.register("datasets", dataset_api.DatasetViewSet, basename="api-dataset")

urlpatterns = [
    path("datasets/<slug:slug>/battles/", battle_log_api.BattleLogsView.as_view(), name="api-dataset-battles"),
    path(
        "datasets/<slug:slug>/battles/imports/<uuid:pk>/",
        battle_log_api.LogImportView.as_view(),
        name="api-log-import",
    ),
    path("datasets/<slug:slug>/vote/", OfferView.as_view(), name="api-vote-offer"),
    path("battles/<int:pk>/vote/", VoteView.as_view(), name="api-vote"),
    path("health/", api.HealthView.as_view(), name="api-health"),
    path("models/", api.ModelList.as_view(), name="api-models"),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
    path("messages/<uuid:pk>/branch/", run_api.BranchView.as_view(), name="api-branch"),
    path("runs/<uuid:pk>/messages/", record_api.MessageList.as_view(), name="api-messages"),
    path("runs/<uuid:pk>/judgments/", record_api.JudgmentList.as_view(), name="api-judgments"),
    path("runs/<uuid:pk>/ballots/", record_api.BallotList.as_view(), name="api-ballots"),
    path("runs/<uuid:pk>/ranking/", ranking_api.RankingView.as_view(), name="api-ranking"),
    path("runs/<uuid:pk>/cycles/", cycle_api.CycleList.as_view(), name="api-cycles"),
    path("runs/<uuid:pk>/cycles/<int:turn>/", cycle_api.CycleView.as_view(), name="api-cycle"),
    path("runs/<uuid:pk>/executions/", cycle_api.ExecutionList.as_view(), name="api-executions"),
    path("cycles/<int:pk>/void/", cycle_api.VoidView.as_view(), name="api-cycle-void"),
    path("cycles/<int:pk>/restore/", cycle_api.RestoreView.as_view(), name="api-cycle-restore"),
    path("runs/<uuid:pk>/calls/", record_api.CallList.as_view(), name="api-calls"),
    path("runs/<uuid:pk>/events/", record_api.EventList.as_view(), name="api-events"),
    path("runs/<uuid:pk>/lineage/", statistics_api.LineageView.as_view(), name="api-lineage"),
    path("experiments/<uuid:pk>/statistics/", statistics_api.StatisticsView.as_view(), name="api-statistics"),
    path("scenarios/", library_api.ScenariosView.as_view(), name="api-scenarios"),
    path("scenarios/<slug:ref>/", library_api.ScenarioView.as_view(), name="api-scenario"),
    path("scenarios/<slug:ref>/versions/", library_api.ScenarioVersions.as_view(), name="api-scenario-versions"),
    path("scenarios/<slug:ref>/share/", library_api.ScenarioShare.as_view(), name="api-scenario-share"),
    path("scenarios/<slug:ref>/archive/", library_api.ScenarioArchive.as_view(), name="api-scenario-archive"),
    path("scenarios/<slug:ref>/copy/", library_api.ScenarioCopy.as_view(), name="api-scenario-copy"),
    path("scenarios/<slug:ref>/demonstration/", library_api.ScenarioDemonstration.as_view(), name="api-demonstration"),
    path("presets/", library_api.PresetsView.as_view(), name="api-presets"),
    path("presets/<slug:ref>/", library_api.PresetView.as_view(), name="api-preset"),
    path("runs/import/", report_api.ImportView.as_view(), name="api-run-import"),
    path("runs/<uuid:pk>/report/", report_api.ReportView.as_view(), name="api-run-report"),
    path("runs/<uuid:pk>/export/", report_api.ExportView.as_view(), name="api-run-export"),
    path("runs/<uuid:pk>/files/", report_api.RunFilesView.as_view(), name="api-run-files"),
    path("files/<uuid:pk>/", report_api.FileView.as_view(), name="api-file"),
    path("files/<uuid:pk>/download/", report_api.FileDownloadView.as_view(), name="api-file-download"),
    path("experiments/<uuid:pk>/campaign/", campaign_api.CampaignView.as_view(), name="api-campaign"),
    path("experiments/<uuid:pk>/stop/", campaign_api.StopView.as_view(), name="api-campaign-stop"),
    path("experiments/<uuid:pk>/resume/", campaign_api.ResumeView.as_view(), name="api-campaign-resume"),
    path("runs/<uuid:pk>/battles/", campaign_api.BattlesOfRun.as_view(), name="api-run-battles"),
    path("battles/", campaign_api.BattleList.as_view(), name="api-battles"),
    *router.urls,
]
