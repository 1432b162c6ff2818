"""Demonstrations: a written transcript as the document of a run, which goes the way of every import.

A scenario's file holds what somebody wrote: paragraphs, of which some are `removed` by the filter, reasoning, tokens,
seconds, scores. The frame that the format asks for is put around it here.
"""

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
        raise Conflict(_("This scenario has no demonstration. Only built-in scenarios have one."))
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
    # The names under which demonstrations were written are in no catalogue to be asked: they have no server.
    defaults = {"base_url": NOWHERE, "is_active": False, "is_simulated": True}
    provider, _made = Provider.objects.get_or_create(name=DEMONSTRATION_PROVIDER, defaults=defaults)
    rows = [
        ProviderModel(provider=provider, slug=slug, upstream=slug, label=label, is_active=False, is_tool=True)
        for slug, label in MODELS.values()
    ]
    ProviderModel.objects.bulk_create(rows, ignore_conflicts=True)
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


def document(scenario: BuiltinScenario, *, title: str, ended: datetime) -> dict[str, object]:
    """The demonstration of a scenario in the format of `reports.document`: a completed run that cost nothing known."""
    written = scenario.demonstration
    started = sent = ended - timedelta(seconds=sum(message["seconds"] for message in written["messages"]))
    messages, calls = [], []
    for message in written["messages"]:
        said = sent + timedelta(seconds=message["seconds"])
        place = f"{scenario.slug}/{scenario.version}/{message['turn']}/{message['seat']}"
        call = str(uuid5(NAMESPACE_URL, f"{place}/call"))
        shared = {name: message[name] for name in ("turn", "seat", "reasoning")} | {"finish_reason": "stop"}
        messages.append({**shared, "id": str(uuid5(NAMESPACE_URL, f"{place}/message")), "call": call,
                         "model": MODELS[message["seat"]][1], "text": seen_text(message), "raw_text": raw_text(message),
                         "filter": _filter(message), "created": said.isoformat()})  # fmt: skip
        calls.append({**shared, **_call(message), "id": call, "sent": sent.isoformat()})
        sent = said
    run = {"state": "completed", "stop_reason": "max_turns", "seed": 0, "turn": written["messages"][-1]["turn"]}
    moments = {"created": started.isoformat(), "started": started.isoformat(), "ended": ended.isoformat()}
    cast = [{"seat": seat, "model": slug} for seat, (slug, _label) in MODELS.items()]
    dynamics = written["dynamics"]
    return {
        "report_version": REPORT_VERSION,
        "run": run | moments,
        "experiment": {"workflow": ARENA.slug, "title": title, "config": scenario.config, "cast": cast},
        "messages": messages,
        "judgments": [
            {**judgment, "judge": MODELS["judge"][1], "dynamics": dynamics.get(str(judgment["turn"]), "")}
            for judgment in written["judgments"]
        ],
        "calls": calls,
    }


def raw_text(message: WrittenMessage) -> str:
    """All paragraphs: what the model produced."""
    return "\n\n".join(paragraph["text"] for paragraph in message["paragraphs"])


def seen_text(message: WrittenMessage) -> str:
    """What the other side sees: the paragraphs that the filter left, or all of them where it failed."""
    if message["filter"].get("status") == "failed":
        return raw_text(message)
    return "\n\n".join(paragraph["text"] for paragraph in message["paragraphs"] if "removed" not in paragraph)


def _filter(message: WrittenMessage) -> dict[str, object]:
    removed = [paragraph["removed"] for paragraph in message["paragraphs"] if "removed" in paragraph]
    status = message["filter"].get("status") or ("filtered" if removed else "kept")
    told = {"confidence": message["filter"]["confidence"], "reasoning": message["filter"]["reasoning"]}
    return {"changed": status == "filtered", "removed": removed, **told, "status": status, "call": None}


def _call(message: WrittenMessage) -> dict[str, object]:
    return {
        "step": f"turn/{message['turn']}/{message['seat']}",
        "purpose": "reply",
        "model": MODELS[message["seat"]][0],
        "simulated": True,
        "warnings": [NOBODY_ASKED],
        "text": raw_text(message),
        **{f"{kind}_tokens": message["tokens"][kind] for kind in ("input", "output", "reasoning")},
        "cost": None,
        "cost_source": "unknown",
        "seconds": message["seconds"],
    }
