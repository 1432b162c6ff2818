"""The page of a debate: its parts in order, where it stands, and which entry is shown in which part."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext_lazy as _

from experiments.models import Message, Run, Step
from experiments.runs.lineage import Lineage
from experiments.runs.timeline import Entry, arranged
from experiments.workflows.base.events import MessageCompleted
from experiments.workflows.debate.config import DEBATERS

Data = Mapping[str, Any]

ROUND = re.compile(r"round/(\d+)(?:/|$)")
REFERENCE = re.compile(r"([A-C])(\d+)(?:\.([pc]\d+))?")
KINDS = {"request": "request", "final_prompt": "prompt", "addendum": "addendum"}  # of what a person says
SEATS = {"refiner": "refine", "summarizer": "summary"}
FIXED = {
    "waiting_for_user": "waiting",
    "offer_opened": "offer",
    "stage_started": "stage",
    "experiment_stopped": "ending",
    "experiment_error": "ending",
}
PARTS = ("request", "refine", "prompt", "round-1", "addendum", "round-2", "summary")
BESIDE_THE_PATH = ("request", "addendum")
LABELS = {
    "request": _("Request"),
    "refine": _("Refinement"),
    "prompt": _("Final prompt"),
    "round-1": _("Round 1"),
    "addendum": _("Addendum"),
    "round-2": _("Round 2"),
    "summary": _("Summary"),
}
OF_PAUSE = {"final_prompt": "prompt"}
JUDGED = ("judge_evaluation_started", "unit_judged")
AGAIN = ("retry_seat", "retry_short")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the page. state: done, current, stopped (the debate ended in it), ahead (not begun) or left_out (the
    debate went on without it). is_on_path: it belongs to the way of this debate.
    """

    name: str
    label: Any
    state: str
    is_waiting: bool
    is_on_path: bool
    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class Board:
    """parts: every one, begun or not; others: entries by the place that they have beside the parts. names: seat and
    round, such as A1, to the model that answered. draft: what is being written at the pause or the offer that is open;
    None when nothing is.
    """

    parts: list[Part]
    others: dict[str, list[Entry]]
    names: dict[str, str]
    draft: str | None

    @property
    def path(self) -> list[Part]:
        """The steps of the way, as the page numbers them."""
        return [part for part in self.parts if part.is_on_path]


@dataclass(frozen=True, slots=True)
class Source:
    """What a piece of advice rests on: B2.c1 is the first counterpoint of B in round 2, B2 all that B said in it."""

    reference: str
    seat: str
    turn: int
    point: str
    names: dict[str, str] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        return f"point-{self.seat}{self.turn}" + (f"-{self.point}" if self.point else "")

    @property
    def model(self) -> str:
        return self.names.get(f"{self.seat}{self.turn}", "")


def board(run: Run, entries: Sequence[Entry]) -> Board:
    """Of a run fetched by `with_totals`."""
    places = arranged(entries, place_of)
    open_steps = [*run.open_pauses, *run.open_offers][-1:]
    return Board(
        parts=list(_parts(run, places)),
        others={name: shown for name, shown in places.items() if name not in PARTS},
        names=_names(entries),
        draft=_draft(run, open_steps[0]) if open_steps else None,
    )


def place_of(type_: str, data: Data) -> str:
    """The place of an event on the page: the part that it belongs to, or a place beside them."""
    if place := FIXED.get(type_):
        return place
    key, seat = str(data.get("key", "")), data.get("seat", "")
    kind = (data.get("parsed") or {}).get("kind", "")
    if found := ROUND.match(key):
        return f"round-{found[1]}"
    if type_ in JUDGED:  # of the summary, of a whole round, or of the debate
        return "summary" if key.startswith("summary") else f"round-{data['turn']}" if data.get("turn") else "ending"
    if seat == "person":
        return "summary" if key.startswith("summary/") else KINDS.get(kind, "request")
    if place := SEATS.get(seat):
        return place
    turn = data.get("turn")
    return f"round-{turn}" if turn in (1, 2) else "ending"


def source(reference: str, names: dict[str, str] | None = None) -> Source | None:
    """None for what is no reference to a point."""
    found = REFERENCE.fullmatch(reference)
    return Source(reference, found[1], int(found[2]), found[3] or "", names or {}) if found else None


def _parts(run: Run, places: dict[str, list[Entry]]) -> Iterator[Part]:
    current, is_waiting = _where(run)
    begun = [name for name in PARTS if name in places or name == current]
    for name in PARTS:
        is_on_path = name not in BESIDE_THE_PATH and (name in begun or _is_coming(run, name))
        state = _state(run, name, current, begun)
        yield Part(name, LABELS[name], state, is_waiting and name == current, is_on_path, places.get(name, []))


def _where(run: Run) -> tuple[str, bool]:
    """The part that is under way, or was when the debate was stopped, and whether it waits for somebody; "" for none
    when everything was done.
    """
    if run.state == Run.State.COMPLETED:
        return "", False
    if pauses := run.open_pauses:
        return OF_PAUSE.get(pauses[-1].purpose, f"round-{pauses[-1].turn}"), not run.is_over
    stage = getattr(run, "stage", None) or {}
    if name := stage.get("stage"):
        return (f"round-{stage['turn']}" if name in DEBATERS else str(name)), False
    return "refine" if run.config.get("refine") else "prompt", False


def _state(run: Run, name: str, current: str, begun: Sequence[str]) -> str:
    if name == current:
        return "stopped" if run.is_over else "current"
    if name in begun:
        return "done"
    is_passed = any(PARTS.index(name) < PARTS.index(other) for other in begun)
    return "left_out" if is_passed or run.state == Run.State.COMPLETED else "ahead"


def _is_coming(run: Run, name: str) -> bool:
    """Whether a part that has not begun belongs to the way of this debate all the same."""
    if name == "refine":
        return bool(run.config.get("refine"))
    if name == "round-2":
        return bool(run.mode == Run.Mode.MANUAL or run.config.get("rounds") == 2)
    return True


def _names(entries: Iterable[Entry]) -> dict[str, str]:
    shown = [entry.data for entry in entries if entry.data.get("seat") in DEBATERS and "raw_text" in entry.data]
    said = [message for message in map(MessageCompleted.read, shown) if not message.superseded]
    return {f"{message.seat}{message.turn}": message.model for message in said}


def _draft(run: Run, step: Step) -> str | None:
    """What is being written there. A debater who is asked again opens the pause anew: what was being written at the
    one before goes on.
    """
    if "draft" in step.data:
        return str(step.data["draft"])
    before = run.steps.filter(purpose=step.purpose, turn=step.turn, pk__lt=step.pk).order_by("-pk").first()
    if before is None or before.data.get("action") not in AGAIN:
        return None
    return _draft(run, before)


@dataclass(frozen=True, slots=True)
class Version:
    """number: from 1 on, in the order in which they were made. text: the final prompt of `run`."""

    number: int
    run: Run
    text: str
    is_current: bool


def versions(run: Run, lineage: Lineage | None) -> list[Version]:
    """Of the runs that came from each other, those that have a final prompt of their own. Empty when there is one."""
    if lineage is None:
        return []
    family = {row.node.run.pk: row.node.run for row in lineage.rows}
    said = Message.objects.filter(run__in=family, parsed__kind="final_prompt", superseded=False)
    texts: dict[str, Version] = {}
    for message in sorted(said, key=lambda message: (family[message.run_id].created, message.run_id)):
        known = texts.get(message.raw_text)
        is_current = message.run_id == run.pk
        if known is None or is_current:
            number = known.number if known else len(texts) + 1
            texts[message.raw_text] = Version(number, family[message.run_id], message.raw_text, is_current)
    return list(texts.values()) if len(texts) > 1 else []
