from django.urls import path

from experiments.shelves import comparison_views

urlpatterns = [
    path("runs/compare/", comparison_views.compare_chosen, name="compare-chosen"),
    path("runs/<uuid:pk>/compare/<uuid:other>/", comparison_views.run_compare, name="run-compare"),
]
