from django.urls import path

from experiments.library.shelves import comparison_views, note_views, tag_views, view_views

urlpatterns = [
    path("runs/compare/", comparison_views.compare_chosen, name="compare-chosen"),
    path("runs/<uuid:pk>/compare/<uuid:other>/", comparison_views.run_compare, name="run-compare"),
    path("runs/chosen/", tag_views.runs_chosen, name="runs-chosen"),
    path("runs/<uuid:pk>/tags/", tag_views.run_tags, name="run-tags"),
    path("experiments/<uuid:pk>/tags/", tag_views.experiment_tags, name="experiment-tags"),
    path("runs/<uuid:pk>/notes/", note_views.run_notes, name="run-notes"),
    path("messages/<uuid:pk>/note/", note_views.message_note, name="message-note"),
    path("notes/<uuid:pk>/", note_views.note, name="note"),
    path("notes/<uuid:pk>/delete/", note_views.note_delete, name="note-delete"),
    path("views/", view_views.view_new, name="view-new"),
    path("views/<uuid:pk>/", view_views.view, name="view"),
    path("views/<uuid:pk>/delete/", view_views.view_delete, name="view-delete"),
    path("experiments/<uuid:pk>/clone/", view_views.clone, name="experiment-clone"),
]
