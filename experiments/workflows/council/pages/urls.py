from django.urls import path

from experiments.workflows.council.pages import views

urlpatterns = [
    path("runs/<uuid:pk>/ask/", views.ask_further, name="run-ask"),
    path("runs/<uuid:pk>/ranking/<int:turn>/", views.ranking, name="run-ranking"),
]
