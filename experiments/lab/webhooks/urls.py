from django.urls import path

from experiments.lab.webhooks import api, views

urlpatterns = [
    path("account/webhooks/", views.my_webhooks, name="my-webhooks"),
    path("projects/<uuid:pk>/webhooks/", views.project_webhooks, name="project-webhooks"),
    path("webhooks/<uuid:pk>/", views.webhook, name="webhook"),
    path("webhooks/<uuid:pk>/secret/", views.rotate, name="webhook-rotate"),
    path("webhooks/<uuid:pk>/test/", views.test, name="webhook-test"),
    path("webhooks/<uuid:pk>/switch/", views.switch, name="webhook-switch"),
    path("webhooks/<uuid:pk>/remove/", views.remove, name="webhook-remove"),
    path("deliveries/<uuid:pk>/again/", views.again, name="delivery-again"),
]
api_urlpatterns = [
    path("webhooks/", api.WebhooksView.as_view(), name="api-webhooks"),
    path("webhooks/<uuid:pk>/", api.WebhookView.as_view(), name="api-webhook"),
    path("webhooks/<uuid:pk>/secret/", api.SecretView.as_view(), name="api-webhook-secret"),
    path("webhooks/<uuid:pk>/test/", api.TestView.as_view(), name="api-webhook-test"),
    path("webhooks/<uuid:pk>/deliveries/", api.DeliveriesView.as_view(), name="api-webhook-deliveries"),
    path("deliveries/<uuid:pk>/", api.DeliveryView.as_view(), name="api-delivery"),
    path("deliveries/<uuid:pk>/again/", api.AgainView.as_view(), name="api-delivery-again"),
]
