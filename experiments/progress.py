"""How far a run is: for the status bar and the list of runs."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils import timezone

from experiments.models import Run


@dataclass(frozen=True, slots=True)
class Progress:
    """turns None is an open length. seconds and eta are whole seconds of play, without waiting for people; eta None
    while nothing can be said. is_ticking: time passes, because the run neither waits nor is over.
    """

    run: Run
    turn: int
    turns: int | None
    tokens: int
    cost: Decimal | None
    cost_limit: float | None
    token_limit: int | None
    seconds: int | None
    eta: int | None
    is_ticking: bool

    @property
    def percent(self) -> int | None:
        return round(100 * self.turn / self.turns) if self.turns else None


def of(run: Any) -> Progress:
    """The progress of a run fetched by `with_totals`."""
    config = run.config
    limits = config.get("limits") or {}
    turn, turns = run.turn or 0, _planned(config)
    seconds = _seconds(run)
    is_ticking = run.started is not None and not run.is_over and run.waiting_since is None
    return Progress(
        run=run,
        turn=turn,
        turns=turns,
        tokens=(run.input_tokens or 0) + (run.output_tokens or 0),
        cost=run.total_cost,
        cost_limit=limits.get("cost"),
        token_limit=limits.get("tokens"),
        seconds=seconds,
        eta=_eta(run, turn, turns, seconds) if is_ticking else None,
        is_ticking=is_ticking,
    )


def _planned(config: dict[str, Any]) -> int | None:
    """The number of turns to be played, or of those that are judged again."""
    listed = config.get("turns")
    return len(listed) if isinstance(listed, list) else config.get("max_turns")


def _seconds(run: Run) -> int | None:
    if run.started is None:
        return None
    now = run.ended or timezone.now()
    waiting = (now - run.waiting_since).total_seconds() if run.waiting_since else 0.0
    return max(0, round((now - run.started).total_seconds() - run.waited_seconds - waiting))


def _eta(run: Any, turn: int, turns: int | None, seconds: int | None) -> int | None:
    """Seconds left: as long a turn as the turns done took on average, less what has passed of the turn under way. Of
    a run that has waited, it is not known how much of the waiting was in which turn: then nothing is taken off.
    """
    if not turn or not turns or seconds is None:
        return None
    if run.waited_seconds:
        return max(0, round(seconds / turn * (turns - turn)))
    done: float = (run.turn_ended - run.started).total_seconds()
    return max(0, round(done / turn * (turns - turn) - (seconds - done)))
