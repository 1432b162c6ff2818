"""The addresses of tags, notes, favorites and saved views, on pages and in the API."""

from typing import Any

from django.urls import path

from experiments.library.annotations import api, comparison_api, pages

urlpatterns = [
    path("runs/compare/", pages.compare_chosen, name="compare-chosen"),
    path("runs/<uuid:pk>/compare/<uuid:other>/", pages.run_compare, name="run-compare"),
    path("runs/chosen/", pages.runs_chosen, name="runs-chosen"),
    path("tags/known/", pages.known_tags, name="known-tags"),
    path("runs/<uuid:pk>/tags/", pages.run_tags, name="run-tags"),
    path("experiments/<uuid:pk>/tags/", pages.experiment_tags, name="experiment-tags"),
    path("runs/<uuid:pk>/notes/", pages.run_notes, name="run-notes"),
    path("messages/<uuid:pk>/note/", pages.message_note, name="message-note"),
    path("notes/<uuid:pk>/", pages.note, name="note"),
    path("notes/<uuid:pk>/delete/", pages.note_delete, name="note-delete"),
    path("favorites/", pages.favorite, name="favorite"),
    path("views/", pages.view_new, name="view-new"),
    path("views/<uuid:pk>/", pages.view, name="view"),
    path("views/<uuid:pk>/delete/", pages.view_delete, name="view-delete"),
    path("experiments/<uuid:pk>/clone/", pages.clone, name="experiment-clone"),
]

ONE_OF_THEM: Any = {"get": "retrieve", "patch": "partial_update", "delete": "destroy"}
api_urlpatterns = [
    path("tags/", api.TagViewSet.as_view({"get": "list", "post": "put_on"}), name="api-tags"),
    path("runs/<uuid:pk>/tags/", api.RunTagViewSet.as_view({"get": "retrieve", "put": "update"}), name="api-run-tags"),
    path("runs/<uuid:pk>/notes/", api.RunNoteViewSet.as_view({"get": "list", "post": "create"}), name="api-run-notes"),
    path("notes/<uuid:pk>/", api.NoteViewSet.as_view(ONE_OF_THEM), name="api-note"),
    path("favorites/", api.FavoriteViewSet.as_view({"get": "list", "post": "create"}), name="api-favorites"),
    path("favorites/<uuid:pk>/", api.FavoriteViewSet.as_view({"delete": "destroy"}), name="api-favorite"),
    path("views/", api.ViewViewSet.as_view({"get": "list", "post": "create"}), name="api-views"),
    path("views/<uuid:pk>/", api.ViewViewSet.as_view(ONE_OF_THEM), name="api-view"),
    path("runs/compare/", comparison_api.CompareView.as_view(), name="api-run-compare"),
    path("experiments/<uuid:pk>/clone/", comparison_api.CloneView.as_view(), name="api-experiment-clone"),
]
