from django.urls import path

from experiments.workflows.coding.pages import api

urlpatterns = [
    path("runs/<uuid:pk>/cycles/", api.CycleList.as_view(), name="api-cycles"),
    path("runs/<uuid:pk>/cycles/<int:turn>/", api.CycleView.as_view(), name="api-cycle"),
    path("runs/<uuid:pk>/executions/", api.ExecutionList.as_view(), name="api-executions"),
    path("cycles/<int:pk>/void/", api.VoidView.as_view(), name="api-cycle-void"),
    path("cycles/<int:pk>/restore/", api.RestoreView.as_view(), name="api-cycle-restore"),
]
