"""Rows as the API, the events and the exports show them. Missing is null, never a neutral number."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from experiments.api.shapes import shape
from experiments.models import (
    Ballot,
    Call,
    Event,
    Experiment,
    InBatches,
    Judgment,
    Message,
    Participant,
    ProviderModel,
    Run,
    SeatedPerson,
    in_batches,
)
from experiments.models.run import RunMode
from experiments.models.work import Envelope
from experiments.workflows.base.events import JsonObject, WaitingForUser

SEATED = ("model", "persona", "params", "person")  # what a seat is set up with


class UsageSerializer(serializers.ModelSerializer[Call]):
    class Meta:
        model = Call
        fields = ["input_tokens", "output_tokens", "reasoning_tokens"]


class CallSerializer(serializers.ModelSerializer[Call]):
    step = serializers.CharField(source="step.key")
    seat = serializers.CharField(source="step.seat")
    turn = serializers.IntegerField(source="step.turn", allow_null=True)
    purpose = serializers.CharField(source="step.purpose")
    prompt_version = serializers.CharField(source="step.prompt_version")
    model = serializers.CharField(source="model.slug")
    simulated = serializers.BooleanField(source="model.provider.is_simulated")

    class Meta:
        model = Call
        fields = [
            *("id", "step", "seat", "turn", "purpose", "attempt", "state", "model", "simulated"),
            *("served_model", "served_provider", "generation_id", "system_fingerprint", "prompt_version"),
            *("request", "text", "reasoning", "logprobs", "finish_reason", "native_finish_reason"),
            *("warnings", "error_kind", "error", "input_tokens", "output_tokens", "reasoning_tokens"),
            *("cached_input_tokens", "usage_is_estimated", "reserved", "cost", "cost_source", "sent"),
            *("first_byte_seconds", "seconds"),
        ]


class FilterSerializer(serializers.Serializer[Any]):
    changed = serializers.BooleanField()
    removed = serializers.ListField(child=serializers.CharField())
    confidence = serializers.FloatField(allow_null=True)
    reasoning = serializers.CharField()
    status = serializers.ChoiceField(["kept", "filtered", "emptied", "failed", "refused"])
    call = serializers.UUIDField(allow_null=True)


class MessageSerializer(serializers.ModelSerializer[Message]):
    filter = serializers.SerializerMethodField()
    logprobs = serializers.SerializerMethodField()
    usage = UsageSerializer(source="call", allow_null=True, read_only=True)
    cost = serializers.DecimalField(
        source="call.cost", max_digits=20, decimal_places=10, allow_null=True, default=None, read_only=True
    )
    call = serializers.UUIDField(source="call_id", allow_null=True)
    purpose = serializers.CharField(source="step.purpose")

    class Meta:
        model = Message
        fields = [
            *("id", "turn", "seat", "purpose", "model", "text", "raw_text", "parsed", "reasoning"),
            *("filter", "logprobs", "finish_reason", "flags", "operator", "superseded", "usage", "cost"),
            *("call", "created"),
        ]

    @extend_schema_field(FilterSerializer(allow_null=True))
    def get_filter(self, message: Message) -> Any:
        return message.filter

    @extend_schema_field(shape("Logprob", token=str, logprob=float)(many=True, allow_null=True))
    def get_logprobs(self, message: Message) -> Any:
        return message.call.logprobs if message.call else None


class TranscriptSerializer(MessageSerializer):
    """A message as pages and events carry it; token probabilities are large and are read with the message itself."""

    def get_logprobs(self, message: Message) -> None:
        return None


class JudgmentSerializer(serializers.ModelSerializer[Judgment]):
    """saw: what the judge was shown, `messages` (filtered, original or both) and `reasoning` (off, none or shown);
    empty where it was not recorded yet.
    """

    saw = serializers.DictField(child=serializers.CharField())

    class Meta:
        model = Judgment
        fields = [
            *("id", "turn", "subject", "judge", "judge_seat", "scores", "unscored_reason", "rationale"),
            *("dynamics", "confidence", "flags", "saw"),
        ]


class BallotSerializer(serializers.ModelSerializer[Ballot]):
    """labels: what the reviewer called the answers, in the order in which they were shown, to seats. order: groups of
    seats, best first; null when nothing could be read, and `abstained_reason` says why.
    """

    labels = serializers.DictField(child=serializers.CharField())
    order = serializers.ListField(child=serializers.ListField(child=serializers.CharField()), allow_null=True)
    call = serializers.UUIDField(source="call_id", allow_null=True)

    class Meta:
        model = Ballot
        fields = [
            *("id", "turn", "count", "reviewer", "model", "labels", "order", "abstained_reason", "flags"),
            *("reading", "superseded", "call"),
        ]


class EventSerializer(serializers.ModelSerializer[Event]):
    """The envelope that the WebSocket sends too."""

    v = serializers.IntegerField(default=1)

    class Meta:
        model = Event
        fields = ["v", "run", "seq", "type", "data", "at"]

    def to_representation(self, instance: Event) -> Envelope:  # type: ignore[override]  # a dictionary all the same
        return instance.envelope


class SeatedPersonSerializer(serializers.ModelSerializer[SeatedPerson]):
    """user, name: empty where readers are not told who it is."""

    user = serializers.SerializerMethodField()
    name = serializers.SerializerMethodField()
    blind = serializers.BooleanField(source="is_blind")

    class Meta:
        model = SeatedPerson
        fields = ["user", "name", "seconds", "blind"]

    def get_user(self, seated: SeatedPerson) -> str:
        return seated.shown_name if seated.person_id else ""

    def get_name(self, seated: SeatedPerson) -> str:
        return "" if seated.person_id else seated.shown_name


class ParticipantSerializer(serializers.ModelSerializer[Participant]):
    """model: empty for a person, whom `person` tells."""

    model = serializers.CharField(source="model.slug")
    label = serializers.CharField(source="model.label")  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    person = SeatedPersonSerializer(required=False)

    class Meta:
        model = Participant
        fields = ["seat", "model", "label", "persona", "params", "person"]

    def to_representation(self, instance: Any) -> Any:
        if not isinstance(instance, SeatedPerson):
            return super().to_representation(instance)
        person = SeatedPersonSerializer(instance).data
        return {
            "seat": instance.seat,
            "model": "",
            "label": instance.called,
            "persona": "",
            "params": {},
            "person": person,
        }


@extend_schema_field(
    {
        "oneOf": [
            {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": {}}},
            {
                "type": "array",
                "items": {"type": "object", "properties": {"seat": {"type": "string"}}, "required": ["seat"]},
            },
        ]
    }
)
class CastField(serializers.DictField):
    """What sits in each seat: by seat, or as an experiment lists its participants."""

    child = serializers.DictField()

    def to_internal_value(self, data: Any) -> dict[str, object]:
        if isinstance(data, list):
            seats = [one.get("seat") if isinstance(one, dict) else None for one in data]
            if not all(isinstance(seat, str) for seat in seats) or len(set(seats)) < len(seats):
                raise serializers.ValidationError(
                    _("Each entry of the list needs its own “%(name)s”.") % {"name": "seat"}
                )
            data = {one["seat"]: {name: one[name] for name in SEATED if name in one} for one in data}
        found: dict[str, Any] = super().to_internal_value(data)
        return found


class ExperimentSerializer(serializers.ModelSerializer[Experiment]):
    cast = ParticipantSerializer(source="seated", many=True)
    owner = serializers.CharField(source="owner.username", help_text="Who set it up.")
    project = serializers.UUIDField(source="project_id", allow_null=True, help_text="Where it belongs; null for none.")

    class Meta:
        model = Experiment
        fields = ["id", "workflow", "title", "config", "cast", "owner", "project", "visibility", "created"]


class ProviderModelSerializer(serializers.ModelSerializer[ProviderModel]):
    provider = serializers.CharField(source="provider.name")
    simulated = serializers.BooleanField(source="provider.is_simulated")
    available = serializers.SerializerMethodField()

    class Meta:
        model = ProviderModel
        fields = ["slug", "label", "provider", "simulated", "available", "capabilities"]

    def get_available(self, model: ProviderModel) -> bool:
        """Enabled, and its provider has a key: yours or the lab's."""
        is_on = model.is_active and model.provider.is_active
        return is_on and model.provider_id not in self.context.get("keyless", ())


InBatchesSerializer = shape(
    "InBatches",
    InBatches,
    doc="""
    Answers that providers give in batches, within a day. unsent: those whose batch is still gathered. sent: when the
    first batch was sent. done, total: answers of these batches, as the provider counts them.
    """,
)


def shown_batches(runs: QuerySet[Run]) -> Any:
    """What these runs wait for at providers; None where it is nothing."""
    found = in_batches(runs)
    return None if found is None else InBatchesSerializer(found).data


RunTotals = shape("RunTotals", input_tokens=int, output_tokens=int, reasoning_tokens=int, calls=int)
WaitingFor = shape(
    "WaitingFor",
    key=str,
    reason=str,
    seat=str,
    turn=int | None,
    default=str,
    actions=list[str],
    error=str,
    can_continue=bool,
)
PAUSED = WaitingForUser(
    key="", reason="paused", seat="", turn=None, default="", actions=[], error="", can_continue=True
).data()


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run in a list; needs `with_totals`, and is the cheaper for `with_pauses`."""

    workflow = serializers.CharField(source="experiment.workflow")
    title = serializers.CharField(source="experiment.title")
    client = serializers.CharField(
        source="client_system", allow_null=True, help_text="The system whose client has begun it; null for none."
    )
    mode = serializers.SerializerMethodField()
    turn = serializers.SerializerMethodField()
    waiting_for = serializers.SerializerMethodField()
    offer = serializers.SerializerMethodField()
    usage = serializers.SerializerMethodField()
    cost = serializers.DecimalField(source="total_cost", max_digits=20, decimal_places=10, allow_null=True)

    class Meta:
        model = Run
        fields = [
            *("id", "experiment", "title", "workflow", "state", "mode", "is_held", "origin", "client"),
            *("parent", "branched_from", "seed", "turn", "waiting_for", "offer", "stop_reason", "error"),
            *("usage", "cost", "created", "started", "ended", "last_seq"),
        ]

    @extend_schema_field(serializers.ChoiceField(choices=RunMode.choices, allow_null=True))
    def get_mode(self, run: Run) -> str | None:
        """`automatic` or `manual`; null for workflows that have no mode."""
        return run.mode if "mode" in run.experiment.config else None

    def get_turn(self, run: Any) -> int:
        return run.turn or 0

    @extend_schema_field(WaitingFor(allow_null=True))
    def get_waiting_for(self, run: Run) -> JsonObject | None:
        """What somebody may say now; of a paused run, that it is paused."""
        if run.is_over:
            return None
        if pauses := run.open_pauses:
            return pauses[-1].pause.data()
        return PAUSED if run.is_held else None

    @extend_schema_field(WaitingFor(allow_null=True))
    def get_offer(self, run: Run) -> JsonObject | None:
        """What may be said although nothing waits for it, such as the next question to a council that has answered."""
        offers = run.open_offers
        return offers[-1].pause.data() if offers else None

    @extend_schema_field(RunTotals)
    def get_usage(self, run: Any) -> dict[str, int]:
        tokens = ("input_tokens", "output_tokens", "reasoning_tokens")
        return {**{name: getattr(run, name) or 0 for name in tokens}, "calls": run.call_count or 0}
