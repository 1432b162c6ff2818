"""Boards, campaigns and what they counted; battles themselves stand with the leaderboard."""

from django.contrib import admin

from experiments.admin.base import Long, ReadOnly
from experiments.models import Board, Campaign, PairCount, Verdict


@admin.register(Board)
class BoardAdmin(ReadOnly):
    list_display = ["slug", "dataset", "kind", "judge", "prompt", "prompt_version", "created"]
    list_filter = ["kind"]
    list_select_related = ["dataset"]
    search_fields = ["slug", "dataset__name", "judge"]
    raw_id_fields = ["judge_model"]


@admin.register(Campaign)
class CampaignAdmin(ReadOnly):
    list_display = ["experiment", "state", "wanted", "round", "note", "created", "ended"]
    list_filter = ["state"]
    list_select_related = ["experiment"]
    search_fields = ["experiment__title"]
    date_hierarchy = "created"


@admin.register(Verdict)
class VerdictAdmin(Long):
    list_display = ["id", "battle_id", "order", "winner", "confidence", "unread_reason"]
    list_filter = ["order", "winner"]
    search_fields = ["=battle__id"]
    raw_id_fields = ["battle", "call"]
    heavy = ("raw", "rationale", "scores")


@admin.register(PairCount)
class PairCountAdmin(Long):
    list_display = ["board", "left", "right", "subset", "left_wins", "right_wins", "ties", "both_bad"]
    list_select_related = ["board", "left", "right"]
