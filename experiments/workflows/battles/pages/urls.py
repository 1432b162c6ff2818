from django.urls import path

from experiments.workflows.battles.pages import dataset_views, views

urlpatterns = [
    path("battles/import/", dataset_views.battles_import_new, name="battles-import-new"),
    path("datasets/<slug:slug>/battles/import/", dataset_views.battles_import, name="battles-import"),
    path("datasets/<slug:slug>/battles/import/<uuid:pk>/", dataset_views.log_import, name="log-import"),
    path(
        "datasets/<slug:slug>/battles/import/<uuid:pk>/store/", dataset_views.log_import_store, name="log-import-store"
    ),
    path("datasets/<slug:slug>/images/<slug:sha>/", dataset_views.dataset_image, name="dataset-image"),
    path("datasets/<slug:slug>/contestants/", dataset_views.dataset_contestants, name="dataset-contestants"),
    path("datasets/<slug:slug>/contestants/<int:pk>/", dataset_views.contestant_change, name="contestant-change"),
    path("experiments/<uuid:pk>/live/", views.live, name="campaign-live"),
    path("experiments/<uuid:pk>/stop/", views.stop, name="campaign-stop"),
    path("experiments/<uuid:pk>/resume/", views.resume, name="campaign-resume"),
]
