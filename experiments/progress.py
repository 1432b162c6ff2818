"""How far a run is: for the status bar and the list of runs."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone

from experiments.models import Run


@dataclass(frozen=True, slots=True)
class Progress:
    """turns None is an open length. seconds and eta are whole seconds, eta None while nothing can be said."""

    run: Run
    turn: int
    turns: int | None
    tokens: int
    cost: Decimal | None
    cost_limit: float | None
    token_limit: int | None
    seconds: int | None
    eta: int | None

    @property
    def percent(self) -> int | None:
        return round(100 * self.turn / self.turns) if self.turns else None


def of(run: Any) -> Progress:
    """The progress of a run fetched by `with_totals`."""
    config = run.experiment.config
    limits = config.get("limits") or {}
    turn, turns = run.turn or 0, config.get("max_turns")
    seconds = _seconds(run.started, run.ended)
    return Progress(
        run=run,
        turn=turn,
        turns=turns,
        tokens=(run.input_tokens or 0) + (run.output_tokens or 0),
        cost=run.total_cost,
        cost_limit=limits.get("cost"),
        token_limit=limits.get("tokens"),
        seconds=seconds,
        eta=_eta(run, turn, turns, seconds),
    )


def _seconds(started: datetime | None, ended: datetime | None) -> int | None:
    return None if started is None else round(((ended or timezone.now()) - started).total_seconds())


def _eta(run: Any, turn: int, turns: int | None, seconds: int | None) -> int | None:
    """Seconds left: as long a turn as the turns done took on average, less what has passed of the turn under way."""
    if run.is_over or not turn or not turns or seconds is None:
        return None
    done: float = (run.turn_ended - run.started).total_seconds()
    return max(0, round(done / turn * (turns - turn) - (seconds - done)))
