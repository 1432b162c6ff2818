"""Queues, answers, flags and curation: read here; people review on the pages."""

from django.contrib import admin

from experiments.admin.base import Inline, Long, ReadOnly, table
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

table(ReviewRubric, "title version owner shared created", filters="shared", search="title", base=ReadOnly)


class MemberInline(Inline):
    model = QueueMember


@admin.register(ReviewQueue)
class ReviewQueueAdmin(ReadOnly):
    list_display = ["name", "owner", "project", "is_lab", "over", "overlap", "is_blind", "state", "created"]
    list_filter = ["state", "over", "is_lab", "created"]
    search_fields = ["name", "owner__username"]
    date_hierarchy = "created"
    inlines = [MemberInline]


table(QueueMember, "queue user created", search="queue__name user__username", base=ReadOnly)
table(ReviewItem, "queue number subject run_id created", search="=subject queue__name")
table(ReviewSlot, "item_id number holder until answered", filters=[("answered", admin.EmptyFieldListFilter)])


class CommentInline(Inline):
    model = ReviewComment


@admin.register(ReviewAnswer)
class ReviewAnswerAdmin(Long):
    """Every version stands here: what was changed, by whom and when."""

    list_display = ["item_id", "author", "version", "is_informed", "seconds", "created"]
    list_filter = ["is_informed", "created"]
    search_fields = ["=item__id", "author__username"]
    inlines = [CommentInline]


table(ReviewComment, "message_id quote text", search="=message__id")
table(ReviewCorrection, "judgment_id measure score reason", filters="measure")
table(ReviewSkip, "item_id person reason created")
# When somebody last worked on something; what they have not sent is theirs alone.
table(ReviewDraft, "item_id person saved", fields=["person", "saved"])
table(
    FlagDeed,
    "message_id flag kind scanner by reason at",
    filters="flag kind scanner",
    search="=message__id by__username",
)
table(
    RunReview,
    "run_id submitted returned approved approved_by excluded excluded_by reason",
    filters=[("approved", admin.EmptyFieldListFilter), ("excluded", admin.EmptyFieldListFilter)],
    search="=run__id",
)
