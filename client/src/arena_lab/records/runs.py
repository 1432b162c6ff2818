"""Experiments and their runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from html import escape
from typing import Any

from arena_lab.records.base import Record

OVER = ("completed", "stopped", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant(Record):
    """Who takes a seat. model: its slug; empty for a person, whom `person` tells (user, name, seconds, blind)."""

    seat: str
    model: str
    label: str = ""
    persona: str = ""
    params: Mapping[str, Any]
    person: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment(Record):
    """What is to be tried. It does not change once it was created."""

    id: str
    workflow: str
    title: str
    config: Mapping[str, Any]
    cast: tuple[Participant, ...]
    owner: str = ""
    project: str | None
    visibility: str = ""
    created: datetime

    @property
    def turns(self) -> int | None:
        """How many there are to be, where that is set."""
        name = {"coding": "cycles", "debate": "rounds"}.get(self.workflow, "max_turns")
        found = self.config.get(name)
        return found if isinstance(found, int) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals(Record):
    """Tokens and calls of a run so far."""

    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(Record):
    """Where somebody may say something. actions: what may be said, `default` what is said by itself."""

    key: str
    reason: str
    seat: str
    turn: int | None
    default: str = ""
    actions: tuple[str, ...] = ()
    error: str = ""
    can_continue: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Record):
    """One execution of an experiment. mode: None where the workflow has none. turn: the last one that is done.
    waiting_for: what it waits for now; offer: what may be said although nothing waits. metrics: None in a list.
    last_seq: the number of its newest event.
    """

    id: str
    experiment: str
    title: str = ""
    workflow: str
    state: str
    mode: str | None = None
    is_held: bool = False
    origin: str = ""
    parent: str | None
    branched_from: str | None
    seed: int
    turn: int
    waiting_for: Pause | None
    offer: Pause | None
    stop_reason: str = ""
    error: str = ""
    usage: Totals
    cost: Decimal | None
    created: datetime
    started: datetime | None
    ended: datetime | None
    last_seq: int
    metrics: Mapping[str, Any] | None

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in self.facts().items()
        )
        return f"<table>{cells}</table>"

    def facts(self) -> dict[str, str]:
        """What there is to know at a glance, by name."""
        tokens = f"{self.usage.input_tokens:,} in, {self.usage.output_tokens:,} out, {self.usage.calls:,} calls"
        found = {
            "Run": self.id,
            "Title": self.title,
            "Workflow": self.workflow,
            "State": self.state,
            "Ended because": self.error or self.stop_reason,
            "Waits for": _waiting(self.waiting_for),
            "May be said": _waiting(self.offer),
            "Turns done": str(self.turn),
            "Seed": str(self.seed),
            "Tokens": tokens,
            "Cost": "not known" if self.cost is None else f"${self.cost.normalize():f}",
            "Created": f"{self.created:%Y-%m-%d %H:%M:%S %Z}",
        }
        return {name: text for name, text in found.items() if text}


def _waiting(pause: Pause | None) -> str:
    if pause is None:
        return ""
    return f"{pause.reason} ({', '.join(pause.actions)})" if pause.actions else pause.reason
