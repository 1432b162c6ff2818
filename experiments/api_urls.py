from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.routers import SimpleRouter

from experiments.lab.budgets import api as budget_api
from experiments.lab.catalog import api as catalog_api
from experiments.lab.health import HealthView
from experiments.lab.keys import api as key_api
from experiments.lab.observing import urls as observing_urls
from experiments.lab.webhooks import api as webhook_api
from experiments.library.annotations import urls as annotation_urls
from experiments.library.api import PresetViewSet as Presets
from experiments.library.api import ScenarioViewSet as Scenarios
from experiments.library.bulk.api import BulkExportViewSet as BulkExports
from experiments.library.datasets import api as dataset_api
from experiments.library.imports.api import ImportView
from experiments.library.imports.api import RunImportViewSet as RunImports
from experiments.library.instruments.api import AnnotationList
from experiments.library.instruments.api import InstrumentViewSet as Instruments
from experiments.library.search.api import SearchView
from experiments.review import urls as review_urls
from experiments.runs import experiment_views, run_api
from experiments.runs.reports import api as report_api
from experiments.runs.seats import api as seat_api
from experiments.runs.sharing import api as sharing_api
from experiments.setup import api as setup_api
from experiments.studies.api import RunChartView, StudyViewSet
from experiments.workflows import REGISTRY, surface_of

router = SimpleRouter(use_regex_path=False)
router.register("experiments", experiment_views.ExperimentViewSet, basename="api-experiment")
router.register("runs", run_api.RunViewSet, basename="api-run")
router.register("studies", StudyViewSet, basename="api-study")
router.register("datasets", dataset_api.DatasetViewSet, basename="api-dataset")
router.register("providers", catalog_api.ProviderViewSet, basename="api-provider")
router.register("keys", key_api.KeyViewSet, basename="api-key")
router.register("webhooks", webhook_api.WebhookViewSet, basename="api-webhook")
router.register("deliveries", webhook_api.DeliveryViewSet, basename="api-delivery")

urlpatterns = [
    *(path("", include(surface.api_urls)) for surface in map(surface_of, REGISTRY) if surface.api_urls),
    *observing_urls.api_urlpatterns,
    path("search/", SearchView.as_view(), name="api-search"),
    *annotation_urls.api_urlpatterns,
    *review_urls.api_urlpatterns,
    path("budgets/", budget_api.BudgetsView.as_view(), name="api-budgets"),
    path("budgets/<uuid:pk>/", budget_api.BudgetView.as_view(), name="api-budget"),
    path("usage/", budget_api.UsageView.as_view(), name="api-usage"),
    path("health/", HealthView.as_view(), name="api-health"),
    path("workflows/", setup_api.WorkflowsView.as_view(), name="api-workflows"),
    path("datasets/<slug:slug>/samples/", dataset_api.SampleList.as_view(), name="api-dataset-samples"),
    path("experiments/estimate/", setup_api.EstimateView.as_view(), name="api-estimate"),
    path("seats/", seat_api.SeatListView.as_view(), name="api-seats"),
    path("seats/<uuid:pk>/", seat_api.SeatView.as_view(), name="api-seat"),
    path("seats/<uuid:pk>/revoke/", seat_api.RevokeSeatView.as_view(), name="api-seat-revoke"),
    path("models/", setup_api.ModelList.as_view(), name="api-models"),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
    path("messages/<uuid:pk>/branch/", run_api.BranchView.as_view(), name="api-branch"),
    path("runs/<uuid:pk>/messages/", run_api.MessageList.as_view(), name="api-messages"),
    path("runs/<uuid:pk>/judgments/", run_api.JudgmentList.as_view(), name="api-judgments"),
    path("runs/<uuid:pk>/ballots/", run_api.BallotList.as_view(), name="api-ballots"),
    path("runs/<uuid:pk>/calls/", run_api.CallList.as_view(), name="api-calls"),
    path("runs/<uuid:pk>/events/", run_api.EventList.as_view(), name="api-events"),
    path("runs/<uuid:pk>/lineage/", run_api.LineageView.as_view(), name="api-lineage"),
    path("experiments/<uuid:pk>/statistics/", experiment_views.StatisticsView.as_view(), name="api-statistics"),
    path("scenarios/", Scenarios.as_view({"get": "list", "post": "create"}), name="api-scenarios"),
    path("scenarios/<slug:ref>/", Scenarios.as_view({"get": "retrieve"}), name="api-scenario"),
    path("scenarios/<slug:ref>/versions/", Scenarios.as_view({"post": "revise"}), name="api-scenario-versions"),
    path("scenarios/<slug:ref>/share/", Scenarios.as_view({"post": "share"}), name="api-scenario-share"),
    path("scenarios/<slug:ref>/archive/", Scenarios.as_view({"post": "archive"}), name="api-scenario-archive"),
    path("scenarios/<slug:ref>/copy/", Scenarios.as_view({"post": "copy"}), name="api-scenario-copy"),
    path("scenarios/<slug:ref>/demonstration/", Scenarios.as_view({"post": "demonstration"}), name="api-demonstration"),
    path("instruments/", Instruments.as_view({"get": "list", "post": "create"}), name="api-instruments"),
    path("instruments/<uuid:pk>/", Instruments.as_view({"get": "retrieve"}), name="api-instrument"),
    path(
        "instruments/<uuid:pk>/versions/",
        Instruments.as_view({"get": "versions", "post": "revise"}),
        name="api-instrument-versions",
    ),
    path(
        "instruments/<uuid:pk>/versions/<int:number>/export/",
        Instruments.as_view({"get": "export"}),
        name="api-instrument-export",
    ),
    path("instruments/<uuid:pk>/archive/", Instruments.as_view({"post": "archive"}), name="api-instrument-archive"),
    path("annotations/", AnnotationList.as_view(), name="api-annotations"),
    path("presets/", Presets.as_view({"get": "list", "post": "create"}), name="api-presets"),
    path(
        "presets/<slug:ref>/",
        Presets.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="api-preset",
    ),
    path("runs/chart/", RunChartView.as_view(), name="api-runs-chart"),
    path("runs/import/", ImportView.as_view(), name="api-run-import"),
    path("runs/imported/", RunImports.as_view({"get": "list"}), name="api-run-imports"),
    path(
        "runs/imported/<uuid:pk>/",
        RunImports.as_view({"get": "retrieve", "delete": "destroy"}),
        name="api-run-import-file",
    ),
    path("runs/imported/<uuid:pk>/store/", RunImports.as_view({"post": "store"}), name="api-run-import-store"),
    path("exports/", BulkExports.as_view({"get": "list", "post": "create"}), name="api-bulk-exports"),
    path("exports/<uuid:pk>/", BulkExports.as_view({"get": "retrieve", "delete": "destroy"}), name="api-bulk-export"),
    path("exports/<uuid:pk>/download/", BulkExports.as_view({"get": "download"}), name="api-bulk-export-download"),
    path("runs/<uuid:pk>/report/", report_api.ReportView.as_view(), name="api-run-report"),
    path("runs/<uuid:pk>/export/", report_api.ExportView.as_view(), name="api-run-export"),
    path("runs/<uuid:pk>/files/", report_api.RunFilesView.as_view(), name="api-run-files"),
    path("files/<uuid:pk>/", report_api.FileView.as_view(), name="api-file"),
    path("files/<uuid:pk>/download/", report_api.FileDownloadView.as_view(), name="api-file-download"),
    path("experiments/<uuid:pk>/share/", sharing_api.ShareView.as_view(), name="api-experiment-share"),
    path("experiments/<uuid:pk>/links/", sharing_api.LinksView.as_view(), name="api-experiment-links"),
    path("links/<uuid:pk>/", sharing_api.LinkView.as_view(), name="api-link"),
    *router.urls,
]
