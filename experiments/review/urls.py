"""The addresses of reviews."""

from django.urls import path

from experiments.review import agreement_views, curation_views, item_views, rubric_views, views

urlpatterns = [
    path("review/", views.index, name="review"),
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
    path("review/<uuid:pk>/", views.queue, name="review-queue"),
    path("review/<uuid:pk>/change/", views.queue_change, name="review-queue-change"),
    path("review/<uuid:pk>/fill/", views.queue_fill, name="review-queue-fill"),
    path("review/<uuid:pk>/state/", views.queue_state, name="review-queue-state"),
    path("review/<uuid:pk>/next/", views.queue_next, name="review-next"),
    path("review/<uuid:pk>/undo/", views.queue_undo, name="review-undo"),
    path("review/<uuid:pk>/agreement/", agreement_views.page, name="review-agreement"),
    path("review/<uuid:pk>/agreement.csv", agreement_views.as_csv, name="review-agreement-csv"),
    path("runs/<uuid:pk>/flags/", curation_views.flags, name="run-flags"),
    path("runs/<uuid:pk>/curation/", curation_views.run_curation, name="run-curation"),
]
