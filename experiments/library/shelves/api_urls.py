from django.urls import path

from experiments.library.shelves import api, comparison_api

urlpatterns = [
    path("tags/", api.TagsView.as_view(), name="api-tags"),
    path("runs/<uuid:pk>/tags/", api.RunTagsView.as_view(), name="api-run-tags"),
    path("runs/<uuid:pk>/notes/", api.NotesView.as_view(), name="api-run-notes"),
    path("notes/<uuid:pk>/", api.NoteView.as_view(), name="api-note"),
    path("views/", api.ViewsView.as_view(), name="api-views"),
    path("views/<uuid:pk>/", api.SavedViewView.as_view(), name="api-view"),
    path("runs/compare/", comparison_api.CompareView.as_view(), name="api-run-compare"),
    path("experiments/<uuid:pk>/clone/", comparison_api.CloneView.as_view(), name="api-experiment-clone"),
]
