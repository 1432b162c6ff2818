from django.urls import include, path

from experiments.lab.budgets import views as budget_views
from experiments.lab.catalog import urls as catalog_urls
from experiments.lab.keys import views as key_views
from experiments.lab.observing import urls as observing_urls
from experiments.lab.usage import views as usage_views
from experiments.lab.webhooks import urls as webhook_urls
from experiments.library import start_views
from experiments.library import views as library_views
from experiments.library.annotations import urls as annotation_urls
from experiments.library.bulk import views as bulk_views
from experiments.library.datasets import views as dataset_views
from experiments.library.imports import views as import_views
from experiments.library.instruments import urls as instrument_urls
from experiments.library.search import views as search_views
from experiments.review import urls as review_urls
from experiments.runs import experiment_views, token_views, views
from experiments.runs.live.backlog import run_news
from experiments.runs.reports import views as report_views
from experiments.runs.seats import views as seat_views
from experiments.runs.sharing import views as sharing_views
from experiments.runs.steering import views as steering_views
from experiments.setup import views as setup_views
from experiments.studies import setup_views as study_setup
from experiments.studies import views as study_views
from experiments.workflows import REGISTRY, surface_of

SETUP = (
    ("", setup_views.setup, ""),
    ("estimate/", setup_views.estimate, "-estimate"),
)
PRESETS = (
    ("presets/", setup_views.save_preset, "-presets"),
    ("presets/<uuid:pk>/delete/", setup_views.delete_preset, "-preset-delete"),
)

urlpatterns = [
    *(path("", include(surface.urls)) for surface in map(surface_of, REGISTRY) if surface.urls),
    *(
        path(
            f"{page.address or f'{slug}/'}{action}",
            view,
            {"workflow": slug},
            name=f"{page.route or surface_of(slug).home}{end}",
        )
        for slug in REGISTRY
        if (page := surface_of(slug).setup)
        for action, view, end in (*SETUP, *(PRESETS if page.of_preset else ()))
    ),
    *catalog_urls.urlpatterns,
    *review_urls.urlpatterns,
    *webhook_urls.urlpatterns,
    *observing_urls.urlpatterns,
    *annotation_urls.urlpatterns,
    *instrument_urls.urlpatterns,
    path("start/", start_views.start, name="start"),
    path("start/provider/", start_views.StartProvider.as_view(), name="start-provider"),
    path("start/models/", start_views.StartModels.as_view(), name="start-models"),
    path("start/run/", start_views.start_run, name="start-run"),
    path("account/keys/", key_views.my_keys, name="my-keys"),
    path("lab/keys/", key_views.lab_keys, name="lab-keys"),
    path("keys/<uuid:pk>/replace/", key_views.replace, name="key-replace"),
    path("keys/<uuid:pk>/test/", key_views.test, name="key-test"),
    path("keys/<uuid:pk>/remove/", key_views.remove, name="key-remove"),
    path("datasets/", dataset_views.datasets, name="datasets"),
    path("datasets/new/", dataset_views.dataset_new, name="dataset-new"),
    path("datasets/new/<uuid:pk>/", dataset_views.dataset_upload, name="dataset-upload"),
    path("datasets/<slug:slug>/", dataset_views.dataset, name="dataset"),
    path("datasets/<slug:slug>/samples/<int:pk>/", dataset_views.dataset_sample, name="dataset-sample"),
    path("datasets/<slug:slug>/outputs/", dataset_views.dataset_outputs, name="dataset-outputs"),
    path("datasets/<slug:slug>/export/", dataset_views.dataset_export, name="dataset-export"),
    path("datasets/<slug:slug>/visibility/", dataset_views.dataset_visibility, name="dataset-visibility"),
    path("datasets/<slug:slug>/delete/", dataset_views.dataset_delete, name="dataset-delete"),
    path("search/", search_views.search, name="search"),
    path("studies/", study_views.studies, name="studies"),
    path("studies/compare/", study_views.compare, name="study-compare"),
    path("studies/new/", study_setup.choose, name="study-new"),
    path("studies/import/", study_setup.import_batch, name="study-import"),
    path("studies/new/<slug:workflow>/", study_setup.new, name="study-design-new"),
    path("studies/new/<slug:workflow>/estimate/", study_setup.estimate, name="study-estimate"),
    path("studies/<uuid:pk>/", study_views.study, name="study"),
    path("studies/<uuid:pk>/design/", study_setup.design, name="study-design"),
    path("studies/<uuid:pk>/plan/", study_setup.plan, name="study-plan"),
    path("studies/<uuid:pk>/sizes/", study_views.sizes, name="study-sizes"),
    path("studies/<uuid:pk>/runs/", study_views.study_runs, name="study-runs"),
    path("studies/<uuid:pk>/repeats/", study_views.add_repeats, name="study-repeats"),
    path("studies/<uuid:pk>/folder/", study_views.study_folder, name="study-folder"),
    path("studies/<uuid:pk>/<slug:verb>/", study_views.act, name="study-act"),
    path("runs/", views.runs, name="runs"),
    path("runs/chart/", study_views.runs_chart, name="runs-chart"),
    path("runs/columns/", views.columns, name="runs-columns"),
    path("runs/delete/", views.delete, name="runs-delete"),
    path("runs/<uuid:pk>/", views.run, name="run"),
    path("runs/<uuid:pk>/rename/", views.rename, name="run-rename"),
    path("runs/<uuid:pk>/status/", views.run_status, name="run-status"),
    path("runs/<uuid:pk>/news/", run_news, name="run-news"),
    path("runs/<uuid:pk>/stop/", views.stop, name="run-stop"),
    path("runs/<uuid:pk>/resume/", views.resume, name="run-resume"),
    path("seats/join/<str:token>/", seat_views.join, name="seat-join"),
    path("seats/<uuid:pk>/", seat_views.seat, name="seat"),
    path("seats/<uuid:pk>/now/", seat_views.now, name="seat-now"),
    path("seats/<uuid:pk>/revoke/", seat_views.revoke, name="seat-revoke"),
    path("runs/<uuid:pk>/say/", steering_views.say, name="run-say"),
    path("runs/<uuid:pk>/pause/", steering_views.pause, name="run-pause"),
    path("runs/<uuid:pk>/mode/", steering_views.mode, name="run-mode"),
    path("runs/<uuid:pk>/draft/", steering_views.draft, name="run-draft"),
    path("runs/<uuid:pk>/lift/", steering_views.lift, name="run-lift"),
    path("runs/<uuid:pk>/extend/", steering_views.extend, name="run-extend"),
    path("messages/<uuid:pk>/branch/", steering_views.branch, name="message-branch"),
    path("messages/<uuid:pk>/text/", steering_views.message_text, name="message-text"),
    path("messages/<uuid:pk>/tokens/", token_views.message_tokens, name="message-tokens"),
    path("calls/<uuid:pk>/", views.call, name="call"),
    path("experiments/<uuid:pk>/", experiment_views.experiment, name="experiment"),
    path("experiments/<uuid:pk>/sharing/", sharing_views.experiment_sharing, name="experiment-sharing"),
    path("experiments/<uuid:pk>/share/", sharing_views.experiment_share, name="experiment-share"),
    path("experiments/<uuid:pk>/links/", sharing_views.link_create, name="link-create"),
    path("links/<uuid:pk>/revoke/", sharing_views.link_revoke, name="link-revoke"),
    path("s/<str:secret>/", sharing_views.shared, name="shared"),
    path("s/<str:secret>/runs/<uuid:pk>/", sharing_views.shared_run, name="shared-run"),
    path("experiments/<uuid:pk>/budget/", budget_views.experiment_budget, name="experiment-budget"),
    path("projects/<uuid:pk>/budgets/", budget_views.project_budgets, name="project-budgets"),
    path("lab/budgets/", budget_views.budgets, name="budgets"),
    path("lab/budgets/<uuid:pk>/remove/", budget_views.budget_remove, name="budget-remove"),
    path("usage/", usage_views.usage, name="usage"),
    path("usage.csv", usage_views.usage_csv, name="usage-csv"),
    path("experiments/<uuid:pk>/rename/", experiment_views.experiment_rename, name="experiment-rename"),
    path("experiments/<uuid:pk>/start/", experiment_views.experiment_start, name="experiment-start"),
    path("experiments/<uuid:pk>/values.csv", experiment_views.experiment_values, name="experiment-values"),
    path("scenarios/", library_views.scenario_list, name="scenarios"),
    path("scenarios/new/", library_views.scenario_new, name="scenario-new"),
    path("scenarios/<slug:ref>/", library_views.scenario, name="scenario"),
    path("scenarios/<slug:ref>/edit/", library_views.scenario_edit, name="scenario-edit"),
    path("scenarios/<slug:ref>/share/", library_views.scenario_share, name="scenario-share"),
    path("scenarios/<slug:ref>/archive/", library_views.scenario_archive, name="scenario-archive"),
    path("scenarios/<slug:ref>/copy/", library_views.scenario_copy, name="scenario-copy"),
    path("scenarios/<slug:ref>/demonstration/", library_views.scenario_demonstration, name="scenario-demonstration"),
    path("scenarios/<slug:ref>/changes/<slug:against>/", library_views.scenario_changes, name="scenario-changes"),
    path("presets/", library_views.preset_list, name="presets"),
    path("presets/<uuid:pk>/edit/", library_views.preset_edit, name="preset-edit"),
    path("presets/<uuid:pk>/share/", library_views.preset_share, name="preset-share"),
    path("presets/<uuid:pk>/delete/", library_views.preset_delete, name="preset-delete"),
    path("presets/<slug:id_>/copy/", library_views.preset_copy, name="preset-copy"),
    path("runs/import/", import_views.import_run, name="run-import"),
    path("runs/imported/<uuid:pk>/", import_views.imported, name="run-import-file"),
    path("runs/imported/<uuid:pk>/store/", import_views.store, name="run-import-store"),
    path("runs/imported/<uuid:pk>/cancel/", import_views.cancel, name="run-import-cancel"),
    path("exports/", bulk_views.exports, name="bulk-exports"),
    path("exports/<uuid:pk>/", bulk_views.export, name="bulk-export"),
    path("exports/<uuid:pk>/download/", bulk_views.download, name="bulk-export-download"),
    path("exports/<uuid:pk>/manifest/", bulk_views.manifest, name="bulk-export-manifest"),
    path("exports/<uuid:pk>/cancel/", bulk_views.cancel, name="bulk-export-cancel"),
    path("runs/<uuid:pk>/report/<slug:format>/", report_views.report, name="run-report"),
    path("runs/<uuid:pk>/export/<slug:format>/", report_views.export, name="run-export"),
    path("runs/<uuid:pk>/files/", report_views.run_files, name="run-files"),
    path("files/<uuid:pk>/", report_views.file, name="file"),
    path("files/<uuid:pk>/download/", report_views.file_download, name="file-download"),
]
