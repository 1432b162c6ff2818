"""The addresses of reviews, on pages and in the API."""

from django.urls import path

from experiments.review import curation_api, desk_views, item_views, rubric_views, run_views, views
from experiments.review.api import AnswersView, ItemsView, ItemViewSet, QueueViewSet, RubricViewSet
from experiments.review.desk_api import DeskViewSet
from experiments.review.forms import FindExperiments
from experiments.review.instruments import views as instrument_views
from experiments.review.instruments.api import CardViewSet, SampleViewSet

urlpatterns = [
    path("review/", views.index, name="review"),
    path("review/runs/", desk_views.runs, name="review-desk"),
    path("review/runs/<uuid:pk>/", desk_views.run, name="review-desk-run"),
    path("find/experiments/", FindExperiments.as_view(), name="find-experiments"),
    path("review/new/", views.queue_new, name="review-queue-new"),
    path("review/rubrics/", rubric_views.index, name="review-rubrics"),
    path("review/rubrics/new/", rubric_views.rubric_new, name="review-rubric-new"),
    path("review/rubrics/<uuid:pk>/", rubric_views.rubric, name="review-rubric"),
    path("review/rubrics/<uuid:pk>/edit/", rubric_views.rubric_edit, name="review-rubric-edit"),
    path("review/items/<uuid:pk>/", item_views.item, name="review-item"),
    path("review/items/<uuid:pk>/claim/", item_views.claim, name="review-claim"),
    path("review/items/<uuid:pk>/release/", item_views.release, name="review-release"),
    path("review/items/<uuid:pk>/draft/", item_views.draft, name="review-draft"),
    path("review/items/<uuid:pk>/skip/", item_views.skip, name="review-skip"),
    path("review/items/<uuid:pk>/reveal/", item_views.reveal, name="review-reveal"),
    path("review/scans/<uuid:pk>/sample/", instrument_views.sample, name="review-sample"),
    path("instruments/<uuid:pk>/card/", instrument_views.card_page, name="instrument-card"),
    path("review/<uuid:pk>/", views.queue, name="review-queue"),
    path("review/<uuid:pk>/change/", views.queue_change, name="review-queue-change"),
    path("review/<uuid:pk>/fill/", views.queue_fill, name="review-queue-fill"),
    path("review/<uuid:pk>/state/", views.queue_state, name="review-queue-state"),
    path("review/<uuid:pk>/next/", views.queue_next, name="review-next"),
    path("review/<uuid:pk>/undo/", views.queue_undo, name="review-undo"),
    path("review/<uuid:pk>/agreement/", views.agreement_page, name="review-agreement"),
    path("review/<uuid:pk>/agreement.csv", views.agreement_csv, name="review-agreement-csv"),
    path("runs/<uuid:pk>/flags/", run_views.flags, name="run-flags"),
    path("runs/<uuid:pk>/curation/", run_views.run_curation, name="run-curation"),
]

queues, queue, item, rubric = "review/queues/", "review/queues/<uuid:pk>/", "review/items/<uuid:pk>/", "review/rubrics/"
api_urlpatterns = [
    path(queues, QueueViewSet.as_view({"get": "list", "post": "create"}), name="api-review-queues"),
    path(queue, QueueViewSet.as_view({"get": "retrieve"}), name="api-review-queue"),
    path("review/samples/", SampleViewSet.as_view({"post": "create"}), name="api-review-samples"),
    path("instruments/<uuid:pk>/card/", CardViewSet.as_view({"get": "retrieve"}), name="api-instrument-card"),
    path(f"{queue}items/", ItemsView.as_view(), name="api-review-items"),
    path(f"{queue}answers/", AnswersView.as_view(), name="api-review-answers"),
    path(f"{queue}agreement/", QueueViewSet.as_view({"get": "agreement"}), name="api-review-agreement"),
    path(f"{queue}next/", QueueViewSet.as_view({"post": "next"}), name="api-review-next"),
    path(f"{queue}undo/", QueueViewSet.as_view({"post": "undo"}), name="api-review-undo"),
    path(f"{queue}change/", QueueViewSet.as_view({"post": "change"}), name="api-review-queue-change"),
    path(f"{queue}fill/", QueueViewSet.as_view({"post": "fill"}), name="api-review-queue-fill"),
    path(item, ItemViewSet.as_view({"get": "retrieve"}), name="api-review-item"),
    *(
        path(f"{item}{action}/", ItemViewSet.as_view({"post": action}), name=f"api-review-{action}")
        for action in ("claim", "release", "answer", "skip", "reveal")
    ),
    path(rubric, RubricViewSet.as_view({"get": "list", "post": "create"}), name="api-review-rubrics"),
    path(f"{rubric}<uuid:pk>/", RubricViewSet.as_view({"get": "retrieve", "post": "revise"}), name="api-review-rubric"),
    path("review/runs/", DeskViewSet.as_view({"get": "list"}), name="api-review-desk"),
    path(
        "review/runs/<uuid:pk>/", DeskViewSet.as_view({"get": "retrieve", "post": "decide"}), name="api-review-desk-run"
    ),
    path("runs/<uuid:pk>/flags/", curation_api.FlagsView.as_view(), name="api-run-flags"),
    path("runs/<uuid:pk>/curation/", curation_api.CurationView.as_view(), name="api-run-curation"),
    path(
        "datasets/<slug:slug>/visibility/", curation_api.DatasetVisibilityView.as_view(), name="api-dataset-visibility"
    ),
    path("datasets/<slug:slug>/contestants/<int:pk>/", curation_api.ContestantView.as_view(), name="api-contestant"),
    path("battles/<int:pk>/", curation_api.BattleView.as_view(), name="api-battle"),
]
