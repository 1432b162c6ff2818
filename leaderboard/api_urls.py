from django.urls import path

from leaderboard import api

urlpatterns = [
    path("ladders/", api.LadderList.as_view(), name="api-ladders"),
    path("ladders/<slug:slug>/", api.LadderView.as_view(), name="api-ladder"),
]
