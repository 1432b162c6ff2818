from django.urls import path

from experiments.workflows.coding.pages import artifact_views, views

urlpatterns = [
    path("runs/<uuid:pk>/cycles/<int:turn>/", views.cycle, name="coding-cycle"),
    path("runs/<uuid:pk>/ratings/", views.ratings, name="coding-ratings"),
    path("runs/<uuid:pk>/artifacts.zip", artifact_views.run_artifacts, name="run-artifacts"),
]
