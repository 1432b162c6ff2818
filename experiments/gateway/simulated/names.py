"""A model name says how the simulated provider behaves: `sim/competitive:tps=200:fail=cut:after=20`."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

PERSONALITIES: Final = (
    *("cooperative", "competitive", "drifting", "deceptive", "refusing", "neutral"),
    *("sceptical", "practical"),
)
ROLES: Final = ("judge", "filter", "vision-judge")
CODERS: Final = ("coder", "coder-oak", "coder-elm", "coder-fir", "coder-ash", "coder-yew")
VOICELESS: Final = ROLES + CODERS  # in a conversation they speak as the neutral one does
SEEING: Final = ("vision-judge",)  # accept pictures
STATUS_FAILURES: Final = (401, 402, 404, 429, 500, 502, 503)
FAILURES: Final = (
    *(str(status) for status in STATUS_FAILURES),
    *("cut", "stall", "reset", "garbage", "html", "empty", "length", "error_event", "no_finish", "silent"),
)
THINKING: Final = ("none", "native", "content", "tags")
USAGES: Final = ("none", "each", "last")
BROKEN_JSON: Final = (
    *("broken", "truncated", "prose", "fenced", "range", "missing", "injected", "empty"),
    *("talk", "nulls", "words", "nan", "far", "contradiction"),
)
BROKEN_PROBLEMS: Final = ("broken", "hopeless", "weak", "garbage")
BROKEN_SOLUTIONS: Final = ("empty", "garbage", "loop", "crash", "hack")
BROKEN_JUDGMENTS: Final = ("garbage", "high", "low", "out_of_range", "list")
DEFAULT_TPS: Final = 40.0
ROLE_TPS: Final = 300.0
CODER_TPS: Final = 120.0
MAX_WORDS: Final = 200_000


class UnknownName(Exception):
    """No such simulated model; the message says which part of the name is wrong."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a model name asks for. Options are named like these fields.

    tps: tokens per second, 0 without delay, None the server's default. first: seconds before the first token.
    words: the exact length of the text. think: where the reasoning goes; none, native (`reasoning`), content
    (`reasoning_content`) or tags. fail: one of FAILURES. after: tokens sent before cut, stall, reset, length and
    error_event. times: failures per distinct request body before success, None means always. retry_after: seconds named
    in the header of a status failure. usage: last sends it when asked for, each with every chunk, none never. json: how
    a structured answer or a plain ballot is spoiled, see `corrupt.py`. odds: the share of structured answers that is.
    bias: how much a judge of battles favours what is shown first, -1 to 1. gullible: the share of what asks a judge for
    a verdict that gets it. cost: usage says what the call cost.

    In contests of coding: strength, how well it programs, 0 to 1. problem: the reference solution fails its own tests
    (broken: until the repair, hopeless: after it too), all tests expect the same (weak), or there is no JSON (garbage).
    solution: no code (empty), no JSON (garbage), code that never ends for one test (loop), that stops with an error
    (crash), or that cheats and pleads (hack). judge: no JSON (garbage), only tens (high), only zeros (low), marks
    beyond the range (out_of_range), or a list of marks (list).
    """

    personality: str
    tps: float | None = None
    first: float = 0.3
    words: int | None = None
    think: str | None = None
    fail: str | None = None
    after: int = 10
    times: int | None = None
    retry_after: float | None = None
    usage: str = "last"
    json: str | None = None
    odds: float = 1.0
    bias: float = 0.0
    gullible: float = 0.0
    cost: bool = False
    strength: float | None = None
    problem: str | None = None
    solution: str | None = None
    judge: str | None = None

    @property
    def identity(self) -> str:
        """The part of the name that decides what is said; the rest decides how it is delivered."""
        return f"{self.personality}:words={self.words}"

    def tokens_per_second(self, default: float) -> float:
        """The name's own pace, else the server's; who is made for a task is faster, and 0 means no delay for all."""
        if self.tps is not None or not default:
            return default if self.tps is None else self.tps
        return ROLE_TPS if self.personality in ROLES else CODER_TPS if self.personality in CODERS else default


def parse_name(name: str) -> Behaviour:
    """Raises UnknownName."""
    prefix, _, rest = name.partition("/")
    personality, *options = rest.split(":")
    if prefix != "sim" or personality not in PERSONALITIES + VOICELESS:
        raise UnknownName(f"no simulated model is called {name!r}; GET /v1/models lists them")
    behaviour = Behaviour(personality)
    for option in options:
        key, _, text = option.partition("=")
        changes: dict[str, Any] = {key: _value(key, text)}
        behaviour = replace(behaviour, **changes)
    return behaviour


def _value(key: str, text: str) -> object:
    if key not in _OPTIONS:
        raise UnknownName(f"unknown option {key!r}; known are {', '.join(_OPTIONS)}")
    try:
        return _OPTIONS[key](text)
    except ValueError as error:
        raise UnknownName(f"option {key}={text}: {error}") from error


def _one_of(*choices: str) -> Callable[[str], str]:
    def choose(text: str) -> str:
        if text not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return text

    return choose


def _seconds(text: str) -> float:
    number = float(text)
    if not math.isfinite(number) or number < 0:
        raise ValueError("expected a number of 0 or more")
    return number


def _count(text: str) -> int:
    number = int(text)
    if not 0 <= number <= MAX_WORDS:
        raise ValueError(f"expected a whole number from 0 to {MAX_WORDS}")
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError("expected a number from 0 to 1")
    return number


def _bias(text: str) -> float:
    number = float(text)
    if not -1 <= number <= 1:
        raise ValueError("expected a number from -1 to 1")
    return number


def _flag(text: str) -> bool:
    return _one_of("", "1", "0")(text) != "0"


_OPTIONS: Final[dict[str, Callable[[str], Any]]] = {
    "tps": _seconds,
    "first": _seconds,
    "words": _count,
    "think": _one_of(*THINKING),
    "fail": _one_of(*FAILURES),
    "after": _count,
    "times": _count,
    "retry_after": _seconds,
    "usage": _one_of(*USAGES),
    "json": _one_of(*BROKEN_JSON),
    "odds": _share,
    "bias": _bias,
    "gullible": _share,
    "cost": _flag,
    "strength": _share,
    "problem": _one_of(*BROKEN_PROBLEMS),
    "solution": _one_of(*BROKEN_SOLUTIONS),
    "judge": _one_of(*BROKEN_JUDGMENTS),
}
