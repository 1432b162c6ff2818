"""Queues, answers, flags and curation: read here; people review on the pages."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from experiments.admin.base import Long, ReadOnly
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
    list_select_related = ["owner"]
    search_fields = ["title"]


class MemberInline(admin.TabularInline[QueueMember, ReviewQueue]):
    model = QueueMember
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(ReviewQueue)
class ReviewQueueAdmin(ReadOnly):
    list_display = ["name", "owner", "project", "is_lab", "over", "overlap", "is_blind", "state", "created"]
    list_filter = ["state", "over", "is_lab", "created"]
    list_select_related = ["owner", "project"]
    search_fields = ["name", "owner__username"]
    date_hierarchy = "created"
    inlines = [MemberInline]


@admin.register(QueueMember)
class QueueMemberAdmin(ReadOnly):
    list_display = ["queue", "user", "created"]
    list_select_related = ["queue", "user"]
    search_fields = ["queue__name", "user__username"]


@admin.register(ReviewItem)
class ReviewItemAdmin(Long):
    list_display = ["queue", "number", "subject", "run_id", "created"]
    list_select_related = ["queue"]
    search_fields = ["=subject", "queue__name"]
    raw_id_fields = ["run", "message", "judgment"]


@admin.register(ReviewSlot)
class ReviewSlotAdmin(Long):
    list_display = ["item_id", "number", "holder", "until", "answered"]
    list_filter = [("answered", admin.EmptyFieldListFilter)]
    list_select_related = ["holder"]
    raw_id_fields = ["item", "answer"]


class CommentInline(admin.TabularInline[ReviewComment, ReviewAnswer]):
    model = ReviewComment
    extra = 0
    can_delete = False
    raw_id_fields = ["message"]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(ReviewAnswer)
class ReviewAnswerAdmin(Long):
    """Every version stands here: what was changed, by whom and when."""

    list_display = ["item_id", "author", "version", "is_informed", "seconds", "created"]
    list_filter = ["is_informed", "created"]
    list_select_related = ["author"]
    search_fields = ["=item__id", "author__username"]
    raw_id_fields = ["item"]
    inlines = [CommentInline]


@admin.register(ReviewComment)
class ReviewCommentAdmin(Long):
    list_display = ["message_id", "quote", "text"]
    search_fields = ["=message__id"]
    raw_id_fields = ["answer", "message"]


@admin.register(ReviewCorrection)
class ReviewCorrectionAdmin(Long):
    list_display = ["judgment_id", "measure", "score", "reason"]
    list_filter = ["measure"]
    raw_id_fields = ["answer", "judgment"]


@admin.register(ReviewSkip)
class ReviewSkipAdmin(Long):
    list_display = ["item_id", "person", "reason", "created"]
    list_select_related = ["person"]
    raw_id_fields = ["item"]


@admin.register(ReviewDraft)
class ReviewDraftAdmin(Long):
    """When somebody last worked on something; what they have not sent is theirs alone."""

    list_display = ["item_id", "person", "saved"]
    list_select_related = ["person"]
    fields = ["person", "saved"]
    heavy = ("fields",)


@admin.register(FlagDeed)
class FlagDeedAdmin(Long):
    list_display = ["message_id", "flag", "kind", "scanner", "by", "reason", "at"]
    list_filter = ["flag", "kind", "scanner"]
    list_select_related = ["by"]
    search_fields = ["=message__id", "by__username"]
    raw_id_fields = ["message"]


@admin.register(RunReview)
class RunReviewAdmin(Long):
    list_display = ["run_id", "approved", "approved_by", "excluded", "excluded_by", "reason"]
    list_filter = [("approved", admin.EmptyFieldListFilter), ("excluded", admin.EmptyFieldListFilter)]
    list_select_related = ["approved_by", "excluded_by"]
    search_fields = ["=run__id"]
    raw_id_fields = ["run"]
