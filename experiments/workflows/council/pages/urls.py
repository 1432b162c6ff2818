from django.urls import path

from experiments.workflows.council.pages import views

urlpatterns = [
    path("council/", views.council, name="council"),
    path("council/estimate/", views.estimate, name="council-estimate"),
    path("council/presets/", views.presets, name="council-presets"),
    path("council/presets/<uuid:pk>/delete/", views.preset_delete, name="council-preset-delete"),
    path("runs/<uuid:pk>/ask/", views.ask_further, name="run-ask"),
    path("runs/<uuid:pk>/ranking/<int:turn>/", views.ranking, name="run-ranking"),
]
