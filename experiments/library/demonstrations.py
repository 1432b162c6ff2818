"""Demonstrations: a written transcript as the document of a run, which goes the way of every import.

A scenario's file holds what somebody wrote: paragraphs, of which some are `removed` by the filter, reasoning, tokens,
seconds, scores. The frame that the format asks for is put around it here.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import Conflict
from experiments.library.builtin import BuiltinScenario, WrittenMessage
from experiments.models import IdempotentRequest, Provider, ProviderModel, Run
from experiments.runs.admission import require_role
from experiments.runs.reports.importing import import_document
from experiments.workflows.arena import WORKFLOW as ARENA
from experiments.workflows.base.events import JsonObject

if TYPE_CHECKING:
    from accounts.models import User

REPORT_VERSION = 1
DEMONSTRATION_PROVIDER = "demonstration"
NOWHERE = "http://demonstration.invalid/v1"
NOBODY_ASKED = "Written for a demonstration: no model was asked."
MODELS = {
    "A": ("demonstration/model-a", "Demonstration model A"),
    "B": ("demonstration/model-b", "Demonstration model B"),
    "judge": ("demonstration/judge", "Demonstration judge"),
    "filter": ("demonstration/filter", "Demonstration filter"),
}
"""Seats to the slug and the label of who sits in them."""


def replay_demonstration(scenario: BuiltinScenario | None, *, by: "User") -> tuple[Run, bool]:
    """The person's run of a scenario's demonstration, and whether it was made just now.

    There is one per person and version: a second click gets the run of the first. No model is asked, no cost arises,
    and the run's origin keeps it out of statistics. Raises Forbidden and Conflict.
    """
    require_role(by)
    if scenario is None:
        raise Conflict(_("This scenario has no demonstration: only those that come with the platform have one."))
    asked = IdempotentRequest.objects.filter(owner=by, key=_key(scenario))
    try:
        with transaction.atomic():
            before = asked.first()
            if before and (run := _made_by(before)):
                return run, False
            if before:  # its run was deleted
                asked.filter(pk=before.pk).delete()
            return _play(scenario, by), True
    except IntegrityError:
        rival = asked.first()
        if rival and (run := _made_by(rival)):
            return run, False
        raise


def _play(scenario: BuiltinScenario, by: "User") -> Run:
    """The key is claimed first, so that of two clicks at once one makes the run and the other waits for it."""
    request = IdempotentRequest.objects.create(owner=by, key=_key(scenario), fingerprint="demonstration")
    _enter_models()
    title = _("Demonstration: %(title)s") % {"title": scenario.title}
    written = document(scenario, title=title, ended=timezone.now())
    run = import_document(written, by=by, origin=Run.Origin.DEMONSTRATION)
    request.answer = {"runs": [str(run.pk)]}
    request.save(update_fields=["answer"])
    return run


def _made_by(request: IdempotentRequest) -> Run | None:
    return Run.objects.filter(pk__in=request.answer.get("runs", []), experiment__owner=request.owner_id).first()


def _key(scenario: BuiltinScenario) -> str:
    """Begins with a character that no `Idempotency-Key` may hold, so that no request of a person is in the way."""
    return f"\tdemonstration/{scenario.slug}/{scenario.version}"


def _enter_models() -> None:
    """The names under which demonstrations were written, for nobody to ask: they have no server."""
    defaults = {"base_url": NOWHERE, "is_active": False, "is_simulated": True}
    provider, _made = Provider.objects.get_or_create(name=DEMONSTRATION_PROVIDER, defaults=defaults)
    rows = [
        ProviderModel(provider=provider, slug=slug, upstream=slug, label=label, is_active=False, is_tool=True)
        for slug, label in MODELS.values()
    ]
    ProviderModel.objects.bulk_create(rows, ignore_conflicts=True)


def document(scenario: BuiltinScenario, *, title: str, ended: datetime) -> dict[str, object]:
    """The demonstration of a scenario in the format of `reports.document`: a completed run that cost nothing known."""
    messages = scenario.demonstration["messages"]
    started = ended - timedelta(seconds=sum(message["seconds"] for message in messages))
    moments = list(_moments(messages, started))
    run = {"state": "completed", "stop_reason": "max_turns", "seed": 0, "turn": messages[-1]["turn"]}
    cast = [{"seat": seat, "model": slug} for seat, (slug, _label) in MODELS.items()]
    return {
        "report_version": REPORT_VERSION,
        "run": {**run, "created": _text(started), "started": _text(started), "ended": _text(ended)},
        "experiment": {"workflow": ARENA.slug, "title": title, "config": scenario.config, "cast": cast},
        "messages": [_message(scenario, m, said) for m, (_sent, said) in zip(messages, moments, strict=True)],
        "judgments": [_judgment(scenario, judgment) for judgment in scenario.demonstration["judgments"]],
        "calls": [_call(scenario, m, sent) for m, (sent, _said) in zip(messages, moments, strict=True)],
    }


def raw_text(message: WrittenMessage) -> str:
    """All paragraphs: what the model produced."""
    return "\n\n".join(paragraph["text"] for paragraph in message["paragraphs"])


def seen_text(message: WrittenMessage) -> str:
    """What the other side sees: the paragraphs that the filter left, or all of them where it failed."""
    if _status(message) == "failed":
        return raw_text(message)
    return "\n\n".join(paragraph["text"] for paragraph in message["paragraphs"] if "removed" not in paragraph)


def _moments(messages: list[WrittenMessage], start: datetime) -> Iterator[tuple[datetime, datetime]]:
    for message in messages:
        end = start + timedelta(seconds=message["seconds"])
        yield start, end
        start = end


def _message(scenario: BuiltinScenario, message: WrittenMessage, said: datetime) -> dict[str, object]:
    return {
        "id": _id(scenario, message, "message"),
        "turn": message["turn"],
        "seat": message["seat"],
        "model": MODELS[message["seat"]][1],
        "text": seen_text(message),
        "raw_text": raw_text(message),
        "reasoning": message["reasoning"],
        "filter": _filter(message),
        "finish_reason": "stop",
        "call": _id(scenario, message, "call"),
        "created": _text(said),
    }


def _status(message: WrittenMessage) -> str:
    removed = any("removed" in paragraph for paragraph in message["paragraphs"])
    return str(message["filter"].get("status") or ("filtered" if removed else "kept"))


def _filter(message: WrittenMessage) -> dict[str, object]:
    return {
        "changed": _status(message) == "filtered",
        "removed": [paragraph["removed"] for paragraph in message["paragraphs"] if "removed" in paragraph],
        "confidence": message["filter"]["confidence"],
        "reasoning": message["filter"]["reasoning"],
        "status": _status(message),
        "call": None,
    }


def _call(scenario: BuiltinScenario, message: WrittenMessage, sent: datetime) -> dict[str, object]:
    tokens = message["tokens"]
    return {
        "id": _id(scenario, message, "call"),
        "step": f"turn/{message['turn']}/{message['seat']}",
        "seat": message["seat"],
        "turn": message["turn"],
        "purpose": "reply",
        "model": MODELS[message["seat"]][0],
        "simulated": True,
        "warnings": [NOBODY_ASKED],
        "text": raw_text(message),
        "reasoning": message["reasoning"],
        "finish_reason": "stop",
        "input_tokens": tokens["input"],
        "output_tokens": tokens["output"],
        "reasoning_tokens": tokens["reasoning"],
        "cost": None,
        "cost_source": "unknown",
        "sent": _text(sent),
        "seconds": message["seconds"],
    }


def _judgment(scenario: BuiltinScenario, judgment: JsonObject) -> dict[str, object]:
    dynamics = scenario.demonstration["dynamics"].get(str(judgment["turn"]), "")
    return {**judgment, "judge": MODELS["judge"][1], "dynamics": dynamics}


def _id(scenario: BuiltinScenario, message: WrittenMessage, kind: str) -> str:
    place = f"{scenario.slug}/{scenario.version}/{message['turn']}/{message['seat']}/{kind}"
    return str(uuid5(NAMESPACE_URL, place))


def _text(moment: datetime) -> str:
    return moment.isoformat()
