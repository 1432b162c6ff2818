from django.urls import path

from experiments.observing import views

urlpatterns = [
    path("metrics", views.metrics, name="metrics"),
]
