"""Addresses of judging again."""

from django.urls import path

from experiments.workflows.judging.pages import views

urlpatterns = [path("runs/<uuid:pk>/judge/", views.judge_again, name="run-judge")]
