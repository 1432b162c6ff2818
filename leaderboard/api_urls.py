from django.urls import path

from leaderboard.boards.api import LadderHistory, LadderList, LadderMatrix, LadderMilestones, LadderSlices, LadderView
from leaderboard.variants.api import DatasetVariants, VariantView
from leaderboard.votes.agreement_api import LadderAgreement
from leaderboard.votes.api import DatasetVotersView, MyVotes, OfferView, VoteView

urlpatterns = [
    path("ladders/", LadderList.as_view(), name="api-ladders"),
    path("ladders/<slug:slug>/", LadderView.as_view(), name="api-ladder"),
    path("ladders/<slug:slug>/milestones/", LadderMilestones.as_view(), name="api-ladder-milestones"),
    path("ladders/<slug:slug>/history/", LadderHistory.as_view(), name="api-ladder-history"),
    path("ladders/<slug:slug>/matrix/", LadderMatrix.as_view(), name="api-ladder-matrix"),
    path("ladders/<slug:slug>/slices/", LadderSlices.as_view(), name="api-ladder-slices"),
    path("ladders/<slug:slug>/agreement/", LadderAgreement.as_view(), name="api-ladder-agreement"),
    path("datasets/<slug:slug>/variants/", DatasetVariants.as_view(), name="api-dataset-variants"),
    path("datasets/<slug:slug>/contestants/<int:pk>/variant/", VariantView.as_view(), name="api-variant"),
    path("datasets/<slug:slug>/vote/", OfferView.as_view(), name="api-vote-offer"),
    path("votes/", MyVotes.as_view(), name="api-votes"),
    path("battles/<int:pk>/vote/", VoteView.as_view(), name="api-vote"),
    path("datasets/<slug:slug>/voters/", DatasetVotersView.as_view(), name="api-dataset-voters"),
]
