from django.urls import path

from experiments.lab.catalog import provider_views, views

urlpatterns = [
    path("models/", views.ModelList.as_view(), name="models"),
    path("models/menu.json", views.model_menu, name="model-menu"),
    path("models/new/", views.ModelCreate.as_view(), name="model-new"),
    path("models/<int:pk>/", views.ModelPage.as_view(), name="model"),
    path("models/<int:pk>/try/", views.try_model, name="model-try"),
    path("lab/defaults/", views.DefaultModels.as_view(), name="model-defaults"),
    path("lab/providers/", provider_views.ProviderList.as_view(), name="providers"),
    path("lab/providers/new/", provider_views.ProviderCreate.as_view(), name="provider-new"),
    path("lab/providers/test/", provider_views.test, {"pk": None}, name="provider-new-test"),
    path("lab/providers/<int:pk>/", provider_views.ProviderPage.as_view(), name="provider"),
    path("lab/providers/<int:pk>/test/", provider_views.test, name="provider-test"),
    path("lab/providers/<int:pk>/sync/", provider_views.sync, name="provider-sync"),
    path("lab/providers/<int:pk>/enable/", provider_views.enable, name="provider-enable"),
    path("lab/providers/<int:pk>/delete/", provider_views.delete, name="provider-delete"),
]
