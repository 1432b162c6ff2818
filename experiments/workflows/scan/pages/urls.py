from django.urls import path

from experiments.workflows.scan.pages import views

urlpatterns = [path("experiments/<uuid:pk>/scan/", views.live, name="scan-live")]
