"""Queues, answers, flags and curation: read here; people review on the pages."""

from django.contrib import admin

from experiments.admin.base import Inline, Long, ReadOnly
from experiments.models import (
    FlagDeed,
    QueueMember,
    ReviewAnswer,
    ReviewComment,
    ReviewCorrection,
    ReviewDraft,
    ReviewItem,
    ReviewQueue,
    ReviewRubric,
    ReviewSkip,
    ReviewSlot,
    RunReview,
)


@admin.register(ReviewRubric)
class ReviewRubricAdmin(ReadOnly):
    list_display = ["title", "version", "owner", "shared", "created"]
    list_filter = ["shared"]
    search_fields = ["title"]


class MemberInline(Inline):
    model = QueueMember


@admin.register(ReviewQueue)
class ReviewQueueAdmin(ReadOnly):
    list_display = ["name", "owner", "project", "is_lab", "over", "overlap", "is_blind", "state", "created"]
    list_filter = ["state", "over", "is_lab", "created"]
    search_fields = ["name", "owner__username"]
    date_hierarchy = "created"
    inlines = [MemberInline]


@admin.register(QueueMember)
class QueueMemberAdmin(ReadOnly):
    list_display = ["queue", "user", "created"]
    search_fields = ["queue__name", "user__username"]


@admin.register(ReviewItem)
class ReviewItemAdmin(Long):
    list_display = ["queue", "number", "subject", "run_id", "created"]
    search_fields = ["=subject", "queue__name"]


@admin.register(ReviewSlot)
class ReviewSlotAdmin(Long):
    list_display = ["item_id", "number", "holder", "until", "answered"]
    list_filter = [("answered", admin.EmptyFieldListFilter)]


class CommentInline(Inline):
    model = ReviewComment


@admin.register(ReviewAnswer)
class ReviewAnswerAdmin(Long):
    """Every version stands here: what was changed, by whom and when."""

    list_display = ["item_id", "author", "version", "is_informed", "seconds", "created"]
    list_filter = ["is_informed", "created"]
    search_fields = ["=item__id", "author__username"]
    inlines = [CommentInline]


@admin.register(ReviewComment)
class ReviewCommentAdmin(Long):
    list_display = ["message_id", "quote", "text"]
    search_fields = ["=message__id"]


@admin.register(ReviewCorrection)
class ReviewCorrectionAdmin(Long):
    list_display = ["judgment_id", "measure", "score", "reason"]
    list_filter = ["measure"]


@admin.register(ReviewSkip)
class ReviewSkipAdmin(Long):
    list_display = ["item_id", "person", "reason", "created"]


@admin.register(ReviewDraft)
class ReviewDraftAdmin(Long):
    """When somebody last worked on something; what they have not sent is theirs alone."""

    list_display = ["item_id", "person", "saved"]
    fields = ["person", "saved"]


@admin.register(FlagDeed)
class FlagDeedAdmin(Long):
    list_display = ["message_id", "flag", "kind", "scanner", "by", "reason", "at"]
    list_filter = ["flag", "kind", "scanner"]
    search_fields = ["=message__id", "by__username"]


@admin.register(RunReview)
class RunReviewAdmin(Long):
    list_display = ["run_id", "approved", "approved_by", "excluded", "excluded_by", "reason"]
    list_filter = [("approved", admin.EmptyFieldListFilter), ("excluded", admin.EmptyFieldListFilter)]
    search_fields = ["=run__id"]
