from django.urls import path

from experiments.lab.observing import views

urlpatterns = [
    path("metrics", views.metrics, name="metrics"),
    path("operator/", views.operator, name="operator"),
    path("operator/now/", views.now, name="operator-now"),
]
api_urlpatterns = [
    path("operator/", views.OperatorView.as_view(), name="api-operator"),
]
