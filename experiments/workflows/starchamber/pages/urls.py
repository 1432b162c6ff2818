from django.urls import path

from experiments.workflows.starchamber.pages import views

urlpatterns = [
    path("runs/<uuid:pk>/figures/", views.figures, name="talk-figures"),
    path("messages/<uuid:pk>/tokens/", views.message_tokens, name="message-tokens"),
]
