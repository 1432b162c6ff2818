"""Queues, items, answers, rubrics and agreement as the API reads and writes them. What is missing is null, never a
number.
"""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from experiments.api.shapes import shape
from experiments.models import ReviewAnswer, ReviewItem, ReviewQueue, ReviewRubric
from experiments.models.review import LONGEST_LOCK, MOST_PEOPLE
from experiments.review.agreement import Disputed, Report, Reviewer
from experiments.review.answers import Content, Correction, Remark
from experiments.review.coefficients import Figure, Measure, Pair, WithJudge
from experiments.review.queues import FILTERED
from leaderboard.ratings.values import Undefined


class QueueSerializer(serializers.ModelSerializer[ReviewQueue]):
    """rubric: scales and labels as they are asked. places, answers: one for each person that an item is to have.
    version, scan, sample: of a queue that holds an instrument to people; null and empty in others.
    """

    owner = serializers.CharField(source="owner.username")
    project = serializers.UUIDField(source="project_id", allow_null=True)
    rubric = serializers.SerializerMethodField()
    members = serializers.SerializerMethodField()
    items = serializers.IntegerField(source="item_count")
    places = serializers.IntegerField()
    answers = serializers.IntegerField()

    class Meta:
        model = ReviewQueue
        fields = [
            *("id", "name", "owner", "project", "is_lab", "over", "filters", "rubric", "overlap", "is_blind"),
            *("instructions", "lock_minutes", "state", "members", "items", "places", "answers", "created", "filled"),
            *("version", "scan", "sample"),
        ]

    @extend_schema_field({"type": "object", "description": "id, title, version, scales, labels."})
    def get_rubric(self, queue: ReviewQueue) -> Any:
        row = queue.rubric
        words = {"id": str(row.pk), "title": row.title, "version": row.version}
        return {**words, "scales": row.scales, "labels": row.labels}

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_members(self, queue: ReviewQueue) -> Any:
        return sorted(one.user.username for one in queue.members.all())


class CommentSerializer(serializers.Serializer[Any]):
    """start, end: characters of the message's text (code points), and the words between."""

    message = serializers.UUIDField(source="message_id")
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    quote = serializers.CharField()
    text = serializers.CharField()


class CorrectionSerializer(serializers.Serializer[Any]):
    judgment = serializers.UUIDField(source="judgment_id")
    measure = serializers.CharField()
    score = serializers.FloatField()
    reason = serializers.CharField()


class AnswerSerializer(serializers.ModelSerializer[ReviewAnswer]):
    """is_informed: said after the judge's scores were shown; it does not count in agreement."""

    item = serializers.UUIDField(source="item_id")
    author = serializers.CharField(source="author.username")
    comments = CommentSerializer(many=True)
    corrections = CorrectionSerializer(many=True)

    class Meta:
        model = ReviewAnswer
        fields = [
            *("id", "item", "author", "version", "scores", "unsaid", "labels", "note", "flags"),
            *("comments", "corrections", "is_informed", "seconds", "created"),
        ]


class ShownMessage(serializers.Serializer[Any]):
    """model: null in a blind queue before your answer."""

    id = serializers.UUIDField()
    turn = serializers.IntegerField()
    seat = serializers.CharField()
    model = serializers.CharField(allow_null=True)
    text = serializers.CharField()
    flags = serializers.ListField(child=serializers.CharField())
    reasoning = serializers.CharField(allow_blank=True, help_text="Where the instrument's judge saw it, too.")
    is_subject = serializers.BooleanField(help_text="Whether the item is about it; the others came before.")


class ShownJudgment(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    turn = serializers.IntegerField()
    subject = serializers.CharField()
    judge = serializers.CharField()
    scores = serializers.DictField(allow_null=True)
    rationale = serializers.CharField(allow_blank=True)


class ItemLine(serializers.ModelSerializer[ReviewItem]):
    """answers, mine: their number, and whether one of them is yours."""

    answers = serializers.IntegerField(source="answer_count")
    mine = serializers.BooleanField()

    class Meta:
        model = ReviewItem
        fields = ["id", "number", "answers", "mine", "created"]


class ItemSerializer(serializers.Serializer[Any]):
    """held_until: null when you do not hold it. judgments: null while they are hidden."""

    id = serializers.UUIDField()
    queue = serializers.UUIDField()
    number = serializers.IntegerField()
    held_until = serializers.DateTimeField(allow_null=True)
    messages = ShownMessage(many=True)
    judgments = ShownJudgment(many=True, allow_null=True)
    answer = AnswerSerializer(allow_null=True)


class AskedComment(serializers.Serializer[Any]):
    message = serializers.UUIDField()
    start = serializers.IntegerField(min_value=0, max_value=10**9)
    end = serializers.IntegerField(min_value=1, max_value=10**9)
    text = serializers.CharField(max_length=10_000)


class AskedCorrection(serializers.Serializer[Any]):
    judgment = serializers.UUIDField()
    measure = serializers.CharField(max_length=60)
    score = serializers.FloatField()
    reason = serializers.CharField(max_length=500)


class AskedAnswer(serializers.Serializer[Any]):
    """scores: numbers by scale. unsaid: reasons for missing scores, by scale. labels: choices by label."""

    scores = serializers.DictField(child=serializers.FloatField(), required=False, default=dict)
    unsaid = serializers.DictField(child=serializers.CharField(max_length=500), required=False, default=dict)
    labels = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(max_length=40)), required=False, default=dict
    )
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=10_000)
    flags = serializers.ListField(child=serializers.CharField(max_length=40), required=False, default=list)
    comments = AskedComment(many=True, required=False, default=list)
    corrections = AskedCorrection(many=True, required=False, default=list)

    def content(self) -> Content:
        asked = self.validated_data
        remarks = tuple(Remark(**one) for one in asked["comments"])
        corrections = tuple(Correction(**one) for one in asked["corrections"])
        said = {name: asked[name] for name in ("scores", "unsaid", "labels")}
        flags = tuple(dict.fromkeys(asked["flags"]))
        return Content(**said, note=asked["note"].strip(), flags=flags, remarks=remarks, corrections=corrections)


class AskedReviewers(serializers.Serializer[Any]):
    """project or is_lab: whose runs it is over; neither for your own. members: user names."""

    overlap = serializers.IntegerField(default=1, min_value=1, max_value=MOST_PEOPLE)
    instructions = serializers.CharField(required=False, allow_blank=True, default="", max_length=10_000)
    lock_minutes = serializers.IntegerField(default=20, min_value=1, max_value=LONGEST_LOCK)
    project = serializers.UUIDField(required=False, allow_null=True, default=None)
    is_lab = serializers.BooleanField(default=False)
    members = serializers.ListField(child=serializers.CharField(max_length=150), required=False, default=list)


class AskedQueue(AskedReviewers):
    """project or is_lab: whose runs it is over; neither for your own. members: user names."""

    name = serializers.CharField(max_length=120)
    rubric = serializers.UUIDField()
    over = serializers.ChoiceField([over.value for over in FILTERED], default=ReviewQueue.Over.MESSAGES)
    filters = serializers.DictField(required=False, default=dict)
    is_blind = serializers.BooleanField(default=True)


class ChangeQueue(serializers.Serializer[Any]):
    """What is left out stays as it is. members: user names, exactly those who review in it from now on."""

    name = serializers.CharField(required=False, max_length=120)
    instructions = serializers.CharField(required=False, allow_blank=True, max_length=10_000)
    lock_minutes = serializers.IntegerField(required=False, min_value=1, max_value=1440)
    members = serializers.ListField(child=serializers.CharField(max_length=150), required=False)
    state = serializers.ChoiceField(ReviewQueue.State.choices, required=False)


class FilledSerializer(serializers.Serializer[Any]):
    new = serializers.IntegerField(help_text="How many items were added.")


class RubricSerializer(serializers.ModelSerializer[ReviewRubric]):
    """owner null: it comes with the platform. Versions of one rubric share a family."""

    owner = serializers.CharField(source="owner.username", default=None, allow_null=True, read_only=True)
    scales = serializers.ListField(child=serializers.DictField())
    labels = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = ReviewRubric
        fields = ["id", "family", "version", "owner", "title", "description", "scales", "labels", "shared", "created"]


class SaveRubric(serializers.Serializer[Any]):
    """content: {scales, labels}, in the form in which a rubric is read."""

    title = serializers.CharField(max_length=120)
    description = serializers.CharField(required=False, allow_blank=True, default="", max_length=2000)
    content = serializers.DictField()
    shared = serializers.BooleanField(required=False, default=False)


class Reason(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=300)


class CoefficientSerializer(serializers.Serializer[Any]):
    """value null: there is no number, and `undefined` says why."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    undefined = serializers.CharField(allow_null=True)

    def to_representation(self, figure: Figure) -> dict[str, object]:
        value, around = figure.value, figure.interval
        low, high = (None, None) if isinstance(around, Undefined) else (around.low, around.high)
        if isinstance(value, Undefined):
            return {"value": None, "low": None, "high": None, "undefined": value.reason.value}
        return {"value": value, "low": low, "high": high, "undefined": None}


ReportSerializer = shape(
    "Report",
    Report,
    measures=shape(
        "Measure",
        Measure,
        alpha=CoefficientSerializer(),
        fleiss=CoefficientSerializer(),
        pairs=shape("Pair", Pair, kappa=CoefficientSerializer())(many=True),
        judge=shape("WithJudge", WithJudge, alpha=CoefficientSerializer())(allow_null=True),
    )(many=True),
    reviewers=shape("Reviewer", Reviewer)(many=True),
    disputed=shape("Disputed", Disputed)(many=True),
)
