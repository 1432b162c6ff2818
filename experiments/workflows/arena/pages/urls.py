from django.urls import path

from experiments.workflows.arena.pages import views

urlpatterns = [
    path("arena/", views.arena, name="arena"),
    path("arena/estimate/", views.arena_estimate, name="arena-estimate"),
]
