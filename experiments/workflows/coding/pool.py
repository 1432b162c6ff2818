"""Who can take part: everybody is asked for one word, all at once, before anything is paid for in earnest."""

from collections.abc import Generator, Sequence
from typing import Any

from experiments.workflows.base.prompts import fill, version
from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Ask, Outcome, Prompt
from experiments.workflows.coding.contest import Contest
from experiments.workflows.coding.records import Checked, PoolChecked

HEALTH = "coding/health"
ROOM = 1_024  # tokens: a reasoning model needs some hundreds before its first word
SECONDS = 40.0
RATE_LIMITED = "rate_limited"
CUT_OFF = "empty_answer"

Playing = Generator[Any, Any, None]


def gather(contest: Contest) -> Playing:
    """The pool of the first cycle. Whoever fails is left out; a skipped check leaves everybody in."""
    contest.pool = contest.seats
    if contest.config.health_check:
        yield from _check(contest, contest.seats, 1)
    else:
        checked = [Checked(seat=seat, state="skipped", error="") for seat in contest.seats]
        yield _checked(1, checked, contest)


def look_again(contest: Contest, turn: int) -> Playing:
    """Before a later cycle: models that were rate-limited are asked once more, and come back when they answer."""
    limited = [seat for seat in contest.seats if seat in contest.limited]
    if limited and contest.config.health_check:
        yield from _check(contest, limited, turn)


def _check(contest: Contest, seats: Sequence[str], turn: int) -> Playing:
    asks = [_ask(seat, turn) for seat in seats]
    outcomes: list[Outcome] = yield asks
    checked = []
    for seat, outcome in zip(seats, outcomes, strict=True):
        state = _state(outcome)
        contest.left.pop(seat, None)
        contest.limited.discard(seat)
        if state != "ok":
            contest.left[seat] = outcome.error
        if state == RATE_LIMITED:
            contest.limited.add(seat)
        error = "" if state == "ok" else outcome.error
        checked.append(Checked(seat=seat, state=state, error=error, key=_key(seat, turn)))
    contest.check_pool()
    yield _checked(turn, checked, contest)


def _ask(seat: str, turn: int) -> Ask:
    return Ask(
        key=_key(seat, turn),
        seat=seat,
        purpose="health",
        turn=turn,
        messages=(Prompt("user", fill(HEALTH)),),
        params={"temperature": 0.0, "max_tokens": ROOM},
        prompt_version=version(HEALTH),
        patience=0.0,
        deadline=SECONDS,
    )


def _key(seat: str, turn: int) -> str:
    return f"health/{turn}/{seat}"


def _state(outcome: Outcome) -> str:
    """A model that had nothing but thoughts within the tokens it was given is there, too."""
    if outcome.ok or outcome.error_kind == CUT_OFF:
        return "ok"
    return RATE_LIMITED if outcome.error_kind == RATE_LIMITED else "failed"


def _checked(turn: int, checked: Sequence[Checked], contest: Contest) -> Record:
    found = PoolChecked(turn=turn, checked=list(checked), pool=list(contest.pool))
    return Record(f"health/{turn}", found, turn=turn)
