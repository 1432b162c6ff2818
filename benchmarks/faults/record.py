"""What the database holds after everything, as JSON. A program of its own: `python -m benchmarks.faults.record`."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
django.setup()

from experiments.engine.recording import CALLER_DIED  # noqa: E402
from experiments.models import Battle, Board, BudgetPeriod, Call, Reservation, Run  # noqa: E402
from experiments.runs.timeline import Entry, from_rows, replayed  # noqa: E402
from experiments.workflows.battles.campaign import counting  # noqa: E402
from leaderboard.boards import compute  # noqa: E402
from leaderboard.models import Ladder  # noqa: E402
from leaderboard.votes import voting  # noqa: E402

ONLY_TOLD = (
    "seconds",
    "refused",
    "budget",
)  # what only an event says: how long a pause was meant to be, what a limit refused


def main() -> dict[str, Any]:
    return {
        "runs": [run_of(run) for run in Run.objects.select_related("experiment").order_by("created", "pk")],
        "accounts": list(accounts()),
        "ladders": list(ladders()),
        "votes": dict(cast_votes()),
    }


def run_of(run: Run) -> dict[str, Any]:
    events = list(run.events.order_by("seq"))
    told = {}
    for event in events:
        if isinstance(event.data, dict) and "raw_text" in event.data and "id" in event.data:
            told[str(event.data["id"])] = event.data["text"]
    messages = list(run.messages.select_related("step", "call"))
    open_pauses = any(step.is_open_pause for step in run.steps.all())
    return {
        "id": str(run.pk),
        "workflow": run.experiment.workflow,
        "state": run.state,
        "reason": run.stop_reason,
        "error": run.error,
        "last_seq": run.last_seq,
        "is_waiting_by_design": run.state == Run.State.WAITING and (open_pauses or run.is_held),
        "has_lease": run.lease_until is not None,
        "envelopes": [event.envelope for event in events],
        "steps": [{"key": s.key, "kind": s.kind, "state": s.state} for s in run.steps.all()],
        "calls": [call_of(call) for call in run.calls.select_related("step")],
        "messages": {str(message.pk): message.text for message in messages},
        "sources": {str(message.pk): message.raw_text for message in messages if message.operator is None},
        "told": told,
        "page": by_anchor(from_rows(run)),
        "replay": by_anchor(replayed(events)),
        "said": {s.key: s.data.get("text", "") for s in run.steps.filter(kind__in=("listen", "offer"), state="done")},
    }


def call_of(call: Call) -> dict[str, Any]:
    return {
        "id": str(call.pk),
        "step": call.step.key,
        "attempt": call.attempt,
        "state": call.state,
        "purpose": call.step.purpose,
        "text": call.text,
        "error_kind": call.error_kind,
        "caller_died": call.error == CALLER_DIED,
        "output_tokens": call.output_tokens,
        "is_estimated": call.usage_is_estimated,
        "cost": _money(call.cost),
        "cost_source": call.cost_source,
        "reserved": _money(call.reserved),
    }


def by_anchor(entries: Iterable[Entry]) -> dict[str, str]:
    return {entry.anchor: json.dumps(_lasting(entry), sort_keys=True, default=str) for entry in entries}


def _lasting(entry: Entry) -> Any:
    return {name: value for name, value in entry.data.items() if name not in ONLY_TOLD}


def accounts() -> Iterator[dict[str, Any]]:
    for period in BudgetPeriod.objects.select_related("budget"):
        counted = Reservation.objects.filter(period=period).values_list("call", flat=True)
        yield {
            "name": str(period.budget),
            "limit": _money(period.budget.cost_limit),
            "earlier": _money(period.cost_earlier),
            "spent": _money(period.cost_spent),
            "reserved": _money(period.cost_reserved),
            "counted": list(map(str, counted)),
        }


def ladders() -> Iterator[dict[str, Any]]:
    """What is shown of each ladder, and what comes out when its record is counted anew."""
    for board in Board.objects.filter(ladder__isnull=True):
        compute.ensure_ladder(board)
    for ladder in Ladder.objects.select_related("board__dataset", "standing").order_by("pk"):
        shown = compute.current(ladder).standings
        wrong = counting.differences(ladder.board) if ladder.board else 0
        if ladder.board:
            counting.recount(ladder.board)
        fresh = compute.standings(Ladder.objects.select_related("board__dataset").get(pk=ladder.pk))
        yield {"name": ladder.slug, "shown": _rows(shown), "recomputed": _rows(fresh), "wrong": wrong}


def _rows(standings: Any) -> str:
    told = standings.as_json()
    return json.dumps(
        {name: told.get(name) for name in ("rows", "battles", "ties", "components")}, sort_keys=True, default=str
    )


def cast_votes() -> Iterator[tuple[int, str]]:
    for battle in Battle.objects.exclude(ballot="").exclude(winner=""):
        yield battle.pk, voting.choice_of(battle)


def _money(amount: Any) -> str | None:
    return None if amount is None else str(amount)


if __name__ == "__main__":
    json.dump(main(), sys.stdout)
