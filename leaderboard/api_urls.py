from django.urls import path

from leaderboard import api, voters_api

urlpatterns = [
    path("ladders/", api.LadderList.as_view(), name="api-ladders"),
    path("ladders/<slug:slug>/", api.LadderView.as_view(), name="api-ladder"),
    path("datasets/<slug:slug>/voters/", voters_api.DatasetVotersView.as_view(), name="api-dataset-voters"),
]
