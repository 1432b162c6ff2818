from django.urls import path

from experiments.lab.webhooks import views

urlpatterns = [
    path("account/webhooks/", views.webhooks, name="my-webhooks"),
    path("projects/<uuid:pk>/webhooks/", views.webhooks, name="project-webhooks"),
    path("webhooks/<uuid:pk>/", views.webhook, name="webhook"),
    path("webhooks/<uuid:pk>/secret/", views.rotate, name="webhook-rotate"),
    path("webhooks/<uuid:pk>/test/", views.test, name="webhook-test"),
    path("webhooks/<uuid:pk>/switch/", views.switch, name="webhook-switch"),
    path("webhooks/<uuid:pk>/remove/", views.remove, name="webhook-remove"),
    path("deliveries/<uuid:pk>/again/", views.again, name="delivery-again"),
]
