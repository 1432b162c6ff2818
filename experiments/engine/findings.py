"""What a workflow records: a step, the rows of its kind where there are any, and the events that tell of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.utils import timezone

from experiments import metrics
from experiments.engine import battle_findings, coding_findings
from experiments.engine.events import Fact
from experiments.engine.text import storable, storable_data
from experiments.models import Ballot, Call, Experiment, Judgment, Message, Participant, Run, Step
from experiments.search import indexing
from experiments.serializers import BallotSerializer, JudgmentSerializer, TranscriptSerializer
from experiments.workflows.steps import Record


def record_step(run_id: UUID, record: Record) -> list[Fact]:
    now = timezone.now()
    step = Step.objects.create(
        run_id=run_id,
        key=record.key,
        kind="record",
        purpose=record.kind,
        turn=record.turn,
        state=Step.State.DONE,
        ended=now,
    )
    return FINDINGS.get(record.kind, _plain_fact)(step, replace(record, data=storable_data(record.data)))


def _keep(step: Step, data: dict[str, Any]) -> dict[str, Any]:
    """A finding without rows of its own is kept with its step."""
    step.data = data
    step.save(update_fields=["data"])
    return data


def _plain_fact(step: Step, record: Record) -> list[Fact]:
    return [Fact(record.kind, dict(record.data))]


def _source(step: Step, record: Record) -> Call | None:
    calls = Call.objects.filter(run_id=step.run_id, step__key=record.source)
    return calls.select_related("model").order_by("attempt").last()


def _filter(step: Step, record: Record) -> list[Fact]:
    message = Message.objects.get(run_id=step.run_id, step__key=record.data["message"])
    message.text = storable(record.data["text"])
    message.filter = {**record.data["filter"], "call": _id(_source(step, record))}
    message.save(update_fields=["text", "filter"])
    indexing.messages(message.pk)
    return [Fact(record.kind, message_data(message))]


def _replaced(step: Step, record: Record) -> list[Fact]:
    """What the other side reads where a reply holds no words."""
    message = Message.objects.select_related("call", "step").get(run_id=step.run_id, step__key=record.data["message"])
    message.text = storable(record.data["text"])
    message.save(update_fields=["text"])
    indexing.messages(message.pk)
    return [Fact("message_altered", message_data(message))]


def _judgments(step: Step, record: Record) -> list[Fact]:
    call = _source(step, record)
    same = {
        "step": step,
        "run_id": step.run_id,
        "turn": step.turn or 0,
        "call": call,
        "judge": call.model.label if call else "",
        "dynamics": record.data["dynamics"],
    }
    judgments = Judgment.objects.bulk_create(Judgment(**same, **data) for data in record.data["judgments"])
    key = record.key.removesuffix("/completed")
    data = {"key": key, "turn": step.turn, "judgments": JudgmentSerializer(judgments, many=True).data}
    return [Fact(record.kind, data), *_metrics(step.run_id, [judgment.subject for judgment in judgments])]


def _metrics(run_id: UUID, subjects: Sequence[str]) -> list[Fact]:
    run = Run.objects.get(pk=run_id)
    last = max(run.judgments.values_list("turn", flat=True), default=0)
    of_seat = metrics.run_metrics(run, subjects, until=last)
    return [Fact("model_metrics", {"seat": seat, "metrics": of_seat[seat]}) for seat in subjects]


def _sent(step: Step, record: Record) -> list[Fact]:
    """Words of a person: they become a message as they stand."""
    text = storable(record.data["text"])
    message = Message.objects.create(
        run_id=step.run_id,
        step=step,
        seq=_next_seq(step),
        turn=step.turn or 0,
        seat=record.data["seat"],
        raw_text=text,
        text=text,
        parsed=record.data.get("parsed"),
    )
    indexing.messages(message.pk)
    return [Fact("message_completed", message_data(message))]


def _next_seq(step: Step) -> int:
    """A place for the message in the order of the talk: that of the events so far. The run's row is locked."""
    return 1 + Run.objects.values_list("last_seq", flat=True).get(pk=step.run_id)


def _superseded(step: Step, record: Record) -> list[Fact]:
    message = Message.objects.select_related("call", "step").get(run_id=step.run_id, step__key=record.data["message"])
    message.superseded = True
    message.save(update_fields=["superseded"])
    return [Fact(record.kind, message_data(message))]


def _intervention(step: Step, record: Record) -> list[Fact]:
    call = _source(step, record)
    of_friend = {"model": call.model.label, "call": _id(call)} if call else {}
    data = _keep(step, {**record.data, **of_friend, "by": _operator(step, record)})
    told = [Fact(record.kind, data)]
    return [*told, _altered(step, data)] if "message_seat" in data else told


def _operator(step: Step, record: Record) -> str:
    """Who did it: whoever spoke at the pause, or the owner who planned it."""
    pause = Step.objects.filter(run_id=step.run_id, kind="listen", key=record.key.rpartition("/")[0]).first()
    if pause and pause.data.get("by"):
        return str(pause.data["by"])
    return Run.objects.select_related("experiment__owner").get(pk=step.run_id).experiment.owner.get_username()


def _altered(step: Step, data: dict[str, Any]) -> Fact:
    """The message reads differently for the other side from now on; what it said before is kept with it."""
    said = Message.objects.select_related("call", "step").filter(run_id=step.run_id, superseded=False)
    message = said.filter(turn=data["message_turn"], seat=data["message_seat"]).latest("seq")
    message.operator = {"kind": "altered", "by": data["by"], "original": message.text}
    message.text = data["text"]
    message.save(update_fields=["text", "operator"])
    indexing.messages(message.pk)
    return Fact("message_altered", message_data(message))


def _id(call: Call | None) -> str | None:
    return str(call.pk) if call else None


def _kept_fact(step: Step, record: Record) -> list[Fact]:
    return [Fact(record.kind, _keep(step, dict(record.data)))]


def _parsed(step: Step, record: Record) -> list[Fact]:
    """What a structured answer says: it reads as `text` from now on, and what was wrong with it joins the flags."""
    message = _message(step, record.data["message"])
    message.parsed, message.text = record.data["parsed"], record.data["text"]
    message.flags = list(dict.fromkeys([*message.flags, *record.data["flags"]]))
    message.save(update_fields=["parsed", "text", "flags"])
    indexing.messages(message.pk)
    return [Fact(record.kind, message_data(message))]


def _message(step: Step, key: str) -> Message:
    return Message.objects.select_related("call", "step").get(run_id=step.run_id, step__key=key)


def _ballot(step: Step, record: Record) -> list[Fact]:
    """A reviewer's ballot takes the place of an earlier one of the same turn."""
    call = _source(step, record)
    data = dict(record.data)
    review = data.pop("message", None)
    same = {"run_id": step.run_id, "turn": step.turn or 0, "reviewer": data["reviewer"]}
    earlier = list(Ballot.objects.select_related("step").filter(**same, superseded=False))
    Ballot.objects.filter(pk__in=[ballot.pk for ballot in earlier]).update(superseded=True)
    model = call.model.label if call else ""
    ballot = Ballot.objects.create(**same, step=step, call=call, model=model, **_ballot_fields(data))
    return [*map(_superseded_ballot, earlier), _ballot_fact(ballot, review)]


def _superseded_ballot(ballot: Ballot) -> Fact:
    ballot.superseded = True
    review = ballot.step.key.removesuffix("/ballot")
    said = Message.objects.filter(run_id=ballot.run_id, step__key=review).exists()
    return _ballot_fact(ballot, review if said else None)


def _ballot_fact(ballot: Ballot, review: str | None) -> Fact:
    said = message_data(_message(ballot.step, review)) if review else None
    return Fact("ballot_read", {"ballot": dict(BallotSerializer(ballot).data), "message": said})


def _ballot_fields(data: dict[str, Any]) -> dict[str, Any]:
    names = ("count", "labels", "order", "abstained_reason", "flags", "reading")
    return {name: data[name] for name in names}


def _titled(step: Step, record: Record) -> list[Fact]:
    """A title that a model found takes the place of the first words; never of one that a person gave."""
    _keep(step, dict(record.data))
    experiment = Run.objects.select_related("experiment").get(pk=step.run_id).experiment
    first_words = " ".join(experiment.parsed_config().summary().split())
    if not first_words.startswith(experiment.title.removesuffix("…")):
        return []
    Experiment.objects.filter(pk=experiment.pk).update(title=record.data["title"])
    indexing.setup(experiment.pk)
    return [Fact(record.kind, {"title": record.data["title"]})]


def _replaced_seat(step: Step, record: Record) -> list[Fact]:
    """Another model answers for a seat; the event says which."""
    seats = {record.data["seat"], record.data["by"], record.data.get("instead_of") or record.data["seat"]}
    seated = Participant.objects.filter(experiment__runs=step.run_id, seat__in=seats).select_related("model")
    labels = {participant.seat: participant.model.label for participant in seated}
    first = record.data.get("instead_of") or record.data["seat"]
    names = {"model": labels.get(record.data["by"], ""), "failed_model": labels.get(first, "")}
    return [Fact(record.kind, _keep(step, {**record.data, **names}))]


FINDINGS: dict[str, Callable[[Step, Record], list[Fact]]] = {
    "message_filtered": _filter,
    "message_replaced": _replaced,
    "message_sent": _sent,
    "message_superseded": _superseded,
    "intervention": _intervention,
    "judge_evaluation_completed": _judgments,
    "message_parsed": _parsed,
    "ballot_read": _ballot,
    "ballots_counted": _kept_fact,
    "stage_started": _kept_fact,
    "seat_replaced": _replaced_seat,
    "concluded_by_rank": _kept_fact,
    "titled": _titled,
    "battle_judged": battle_findings.judged,
    "output_made": battle_findings.made,
    **coding_findings.FINDINGS,
}


def message_data(message: Message) -> dict[str, Any]:
    return dict(TranscriptSerializer(message).data)
