"""After a failed attempt: wait and try again, or give up. No clock and no randomness: the caller brings the jitter."""

from dataclasses import dataclass

from experiments.gateway.errors import (
    BadAnswer,
    EmptyAnswer,
    GatewayError,
    Interrupted,
    OutcomeUnknown,
    OutOfCredit,
    RateLimited,
    TryLater,
)

MAX_ATTEMPTS = 4
LONGEST_WAIT = 120.0
_BASE_SECONDS = 1.0
_RATE_LIMIT_BASE_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class Wait:
    """Ask again, as a new attempt, after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    reason: str


def decide(error: GatewayError, attempt: int, *, jitter: float) -> Wait | GiveUp:
    """What to do after attempt number `attempt` (1 is the first) failed with `error`.

    jitter: 0 to 1, spreads callers that failed together: half to one and a half of the doubling pause, or up to a
    second on top of the pause that the provider named, which is never undercut.
    """
    reason = _reason_to_give_up(error, attempt)
    if reason:
        return GiveUp(reason)
    if error.retry_after is not None:
        return Wait(error.retry_after + jitter)
    base = _RATE_LIMIT_BASE_SECONDS if isinstance(error, RateLimited) else _BASE_SECONDS
    return Wait(min(LONGEST_WAIT, base * 2 ** (attempt - 1) * (0.5 + jitter)))


def _reason_to_give_up(error: GatewayError, attempt: int) -> str:
    if attempt >= _attempts_allowed(error):
        return f"attempt {attempt} failed: {error}"
    if isinstance(error, EmptyAnswer) and error.partial is not None and error.partial.finish_reason == "length":
        return "the token limit was reached before any text, which would happen again: raise max_tokens"
    return ""


def _attempts_allowed(error: GatewayError) -> int:
    """Every repeat of a call that may have been billed may be billed on top, hence only one."""
    if isinstance(error, OutcomeUnknown | Interrupted | BadAnswer):
        return 2
    if isinstance(error, TryLater):
        return MAX_ATTEMPTS
    heals = isinstance(error, OutOfCredit) and error.retry_after is not None
    return MAX_ATTEMPTS if heals else 1
