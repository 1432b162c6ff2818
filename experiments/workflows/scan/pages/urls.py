from django.urls import path

from experiments.workflows.scan.pages import trying_views, views

urlpatterns = [
    path("experiments/<uuid:pk>/scan/", views.live, name="scan-live"),
    path("instruments/preview/", trying_views.preview, name="instrument-preview"),
    path("instruments/<uuid:pk>/try/", trying_views.try_, name="instrument-try"),
    path("instruments/<uuid:pk>/tried/", trying_views.tried, name="instrument-tried"),
    path("instruments/<uuid:pk>/ask/", trying_views.ask, name="instrument-ask"),
    path("instruments/<uuid:pk>/cases/", trying_views.case_keep, name="instrument-case-keep"),
    path("instruments/<uuid:pk>/cases/run/", trying_views.cases_run, name="instrument-cases-run"),
    path("instruments/<uuid:pk>/cases/<uuid:case>/delete/", trying_views.case_delete, name="instrument-case-delete"),
]
