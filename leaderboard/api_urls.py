from django.urls import path

from leaderboard.boards import api
from leaderboard.votes import api as vote_api
from leaderboard.votes import voters_api

urlpatterns = [
    path("ladders/", api.LadderList.as_view(), name="api-ladders"),
    path("ladders/<slug:slug>/", api.LadderView.as_view(), name="api-ladder"),
    path("datasets/<slug:slug>/vote/", vote_api.OfferView.as_view(), name="api-vote-offer"),
    path("battles/<int:pk>/vote/", vote_api.VoteView.as_view(), name="api-vote"),
    path("datasets/<slug:slug>/voters/", voters_api.DatasetVotersView.as_view(), name="api-dataset-voters"),
]
