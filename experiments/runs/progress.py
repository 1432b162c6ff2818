"""How far a run is, and the latest scores of its sides: for the status bar, the list of runs and the reading mode."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from experiments.models import Run
from experiments.runs.statistics.rows import subjects_of
from experiments.tasks import clock


@dataclass(frozen=True, slots=True)
class Stage:
    """Part of a turn: its name, its number from 1 on, and how many there are."""

    name: str
    number: int
    of: int


@dataclass(frozen=True, slots=True)
class Progress:
    """turns None is an open length. seconds and eta are whole seconds of play, without waiting for people; eta None
    while nothing can be said. is_ticking: time passes, because the run neither waits nor is over. stage None where the
    workflow has no stages, or none is under way.
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
    stage: Stage | None = None

    @property
    def percent(self) -> int | None:
        if self.stage:
            return round(100 * (self.stage.number - 1) / self.stage.of)
        return round(100 * self.turn / self.turns) if self.turns else None


def of(run: Any) -> Progress:
    """The progress of a run fetched by `with_totals`."""
    config = run.config
    limits = config.get("limits") or {}
    turn, turns = _turns(run, config)
    seconds = _seconds(run)
    is_ticking = run.started is not None and not run.is_over and run.waiting_since is None
    has_stage = run.stage and not run.is_over and run.waiting_since is None
    stage = Stage(*(run.stage[name] for name in ("stage", "number", "of"))) if has_stage else None
    return Progress(
        run=run,
        turn=turn,
        turns=turns,
        tokens=(run.input_tokens or 0) + (run.output_tokens or 0),
        cost=run.total_cost,
        cost_limit=limits.get("cost"),
        token_limit=limits.get("tokens"),
        seconds=seconds,
        eta=(_eta_of_stages(run, stage) if stage else _eta(run, turn, turns, seconds)) if is_ticking else None,
        is_ticking=is_ticking,
        stage=stage,
    )


def _turns(run: Any, config: dict[str, Any]) -> tuple[int, int | None]:
    """How many turns are over, and how many are to be played, or judged again. Of a contest those cycles are over that
    came to something, for void ones are numbered, too. Of a run that has part of a campaign's work: how much of it is
    done, and how much there is.
    """
    if tasks := run.overrides.get("tasks"):
        judges = run.experiment.participants.filter(seat__startswith="judge").count() or 1
        wanted = sum(len(task.get("seats") or ()) or judges for task in tasks)
        return run.steps.filter(purpose__in=("battle_judged", "output_made", "unit_judged")).count(), wanted
    listed = config.get("turns")
    planned = len(listed) if isinstance(listed, list) else config.get("max_turns", config.get("cycles"))
    return (run.turns_done if "cycles" in config else run.turn) or 0, planned


def _seconds(run: Run) -> int | None:
    if run.started is None:
        return None
    now = run.ended or clock.now()
    waiting = (now - run.waiting_since).total_seconds() if run.waiting_since else 0.0
    return max(0, round((now - run.started).total_seconds() - run.waited_seconds - waiting))


def _eta_of_stages(run: Any, stage: Stage) -> int | None:
    """Seconds left in this turn: the stages to come take as long as those before them did on average."""
    if stage.number == 1 or run.stages_began is None or run.waited_seconds:
        return None
    a_stage: float = (run.stage_began - run.stages_began).total_seconds() / (stage.number - 1)
    passed: float = (clock.now() - run.stage_began).total_seconds()
    return max(0, round(a_stage * (stage.of - stage.number + 1) - passed))


def _eta(run: Any, turn: int, turns: int | None, seconds: int | None) -> int | None:
    """Seconds left: as long a turn as the turns done took on average, less what has passed of the turn under way. Of
    a run that has waited, it is not known how much of the waiting was in which turn: then nothing is taken off.
    """
    if not turn or not turns or seconds is None:
        return None
    if run.waited_seconds or run.turn_ended is None:
        return max(0, round(seconds / turn * (turns - turn)))
    done: float = (run.turn_ended - run.started).total_seconds()
    return max(0, round(done / turn * (turns - turn) - (seconds - done)))


BANDS = (0.0, 10.0, 20.0, 40.0)  # of goal deviation: exactly 0, below 10, below 20, below 40, and from 40 on


@dataclass(frozen=True, slots=True)
class SideSummary:
    """The latest scores of one side; None where nothing was scored."""

    subject: str
    goal_deviation: float | None
    cooperation: float | None

    @property
    def band(self) -> int | None:
        return band(self.goal_deviation)


def band(deviation: float | None) -> int | None:
    """0 to 4: which of the five bands a goal deviation is in. None when it was not scored."""
    if deviation is None:
        return None
    if deviation <= BANDS[0]:
        return 0
    return next((number for number, below in enumerate(BANDS[1:], 1) if deviation < below), len(BANDS))


def summary_of(run: Run) -> list[SideSummary]:
    """Of each side that a judge scores in this workflow, in one query."""
    latest: dict[str, dict[str, float]] = {}
    for subject, scores in run.judgments.order_by("turn", "id").values_list("subject", "scores"):
        latest.setdefault(subject, {}).update(scores or {})
    return [
        SideSummary(subject, scores.get("goal_deviation"), scores.get("cooperation"))
        for subject, scores in ((subject, latest.get(subject, {})) for subject in subjects_of(run.experiment))
    ]
