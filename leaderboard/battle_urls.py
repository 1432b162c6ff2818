from django.urls import path

from leaderboard.pages import battles as battle_views
from leaderboard.votes import agreement_views, voters_views
from leaderboard.votes import views as vote_views
from leaderboard.votes.api import VotePicture

urlpatterns = [
    path("leaderboard/<slug:slug>/battles/", battle_views.battles, name="ladder-battles"),
    path("leaderboard/<slug:slug>/samples/", battle_views.sample_list, name="ladder-samples"),
    path("leaderboard/<slug:slug>/samples/<int:pk>/", battle_views.sample_page, name="ladder-sample"),
    path("leaderboard/<slug:slug>/agreement/", agreement_views.agreement, name="ladder-agreement"),
    path("datasets/<slug:slug>/voters/", voters_views.dataset_voters, name="dataset-voters"),
    path("battles/<int:pk>/", battle_views.battle, name="battle"),
    path("battles/<int:pk>/void/", battle_views.battle_void, name="battle-void"),
    path("vote/", vote_views.vote_index, name="votes"),
    path("vote/mine/", vote_views.my_votes, name="my-votes"),
    path("vote/<str:token>/<str:side>.png", VotePicture.as_view(), name="vote-picture"),
    path("vote/<slug:slug>/", vote_views.vote, name="vote"),
    path("vote/<slug:slug>/<str:token>/", vote_views.vote_cast, name="vote-cast"),
]
