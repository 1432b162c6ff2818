from django.urls import path
from django.views.generic import RedirectView

from experiments import views

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="arena"), name="home"),
    path("arena/", views.arena, name="arena"),
    path("runs/", views.runs, name="runs"),
    path("runs/<uuid:pk>/", views.run, name="run"),
    path("runs/<uuid:pk>/status/", views.run_status, name="run-status"),
    path("runs/<uuid:pk>/stop/", views.stop, name="run-stop"),
    path("runs/<uuid:pk>/resume/", views.resume, name="run-resume"),
    path("calls/<uuid:pk>/", views.call, name="call"),
]
