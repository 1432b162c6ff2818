from django.urls import path

from leaderboard.arena import views as arena
from leaderboard.pages import battles, coding, ladders, sharing
from leaderboard.variants import views as variants
from leaderboard.votes import api, views

urlpatterns = [
    path("leaderboard/", ladders.leaderboard, name="leaderboard"),
    path("leaderboard/methodology/", ladders.methodology, name="methodology"),
    path("leaderboard/coding/cycles/", coding.ladder_cycles, name="ladder-cycles"),
    path("leaderboard/<slug:slug>/", ladders.ladder, name="ladder"),
    path("leaderboard/<slug:slug>/matrix/", ladders.ladder_matrix, name="ladder-matrix"),
    path("leaderboard/<slug:slug>/slices/", ladders.ladder_slices, name="ladder-slices"),
    path("leaderboard/<slug:slug>/embed/", sharing.EmbedView.as_view(), name="ladder-embed"),
    path("leaderboard/<slug:slug>/chart.<slug:format>", sharing.ladder_picture, name="ladder-picture"),
    path("leaderboard/<slug:slug>/history/", ladders.ladder_history, name="ladder-history"),
    path("leaderboard/<slug:slug>/milestones/", ladders.ladder_milestones, name="ladder-milestones"),
    path("leaderboard/<slug:slug>/logs/<slug:format>/", ladders.board_export, name="board-export"),
    path("api/boards/<slug:slug>/export/", ladders.BoardExportView.as_view(), name="api-board-export"),
    path("leaderboard/<slug:slug>/download/<slug:format>/", ladders.ladder_download, name="ladder-download"),
    path("leaderboard/<slug:slug>/battles/", battles.battles, name="ladder-battles"),
    path("leaderboard/<slug:slug>/samples/", battles.sample_list, name="ladder-samples"),
    path("leaderboard/<slug:slug>/samples/<int:pk>/", battles.sample_page, name="ladder-sample"),
    path("leaderboard/<slug:slug>/agreement/", views.agreement, name="ladder-agreement"),
    path("datasets/<slug:slug>/voters/", views.dataset_voters, name="dataset-voters"),
    path("datasets/<slug:slug>/variants/", variants.dataset_variants, name="dataset-variants"),
    path("datasets/<slug:slug>/contestants/<int:pk>/variant/", variants.variant_edit, name="variant-edit"),
    path("battles/<int:pk>/", battles.battle, name="battle"),
    path("battles/<int:pk>/void/", battles.battle_void, name="battle-void"),
    path("public-arena/", arena.arena, name="public-arena"),
    path("public-arena/votes.jsonl", arena.data, name="public-arena-data"),
    path("public-arena/<uuid:pk>/", arena.battle, name="public-arena-battle"),
    path("public-arena/<uuid:pk>/news/", arena.news, name="public-arena-news"),
    path("lab/public-arena/", arena.settings, name="public-arena-settings"),
    path("review/public-arena/", arena.review, name="review-arena"),
    path("vote/", views.vote_index, name="votes"),
    path("vote/mine/", views.my_votes, name="my-votes"),
    path("vote/<str:token>/<str:side>.png", api.VotePicture.as_view(), name="vote-picture"),
    path("vote/<slug:slug>/", views.vote, name="vote"),
    path("vote/<slug:slug>/<str:token>/", views.vote_cast, name="vote-cast"),
]
