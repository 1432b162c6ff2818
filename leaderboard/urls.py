from django.urls import path

from leaderboard.pages import cycle_views, log_views
from leaderboard.pages import ladders as views

urlpatterns = [
    path("leaderboard/", views.leaderboard, name="leaderboard"),
    path("leaderboard/methodology/", views.methodology, name="methodology"),
    path("leaderboard/coding/cycles/", cycle_views.ladder_cycles, name="ladder-cycles"),
    path("leaderboard/<slug:slug>/", views.ladder, name="ladder"),
    path("leaderboard/<slug:slug>/matrix/", views.ladder_matrix, name="ladder-matrix"),
    path("leaderboard/<slug:slug>/history/", views.ladder_history, name="ladder-history"),
    path("leaderboard/<slug:slug>/milestones/", views.ladder_milestones, name="ladder-milestones"),
    path("leaderboard/<slug:slug>/logs/<slug:format>/", log_views.board_export, name="board-export"),
    path("api/boards/<slug:slug>/export/", log_views.BoardExportView.as_view(), name="api-board-export"),
    path("leaderboard/<slug:slug>/download/<slug:format>/", views.ladder_download, name="ladder-download"),
]
