"""The simulated models. A name says how its model behaves: `sim/competitive:tps=200:fail=cut:after=20`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

FAILURES: Final = "401|402|404|429|500|502|503|cut|reset|stall|silent|error_event|empty|length"
BROKEN_JSON: Final = "broken|truncated|prose|fenced|range|missing|injected|empty|talk"
DEFAULT_TPS: Final = 40.0
INPUT_PRICE, OUTPUT_PRICE = Decimal("0.0000005"), Decimal("0.0000015")
BATCH_SHARE = Decimal("0.5")  # of the price, in a batch
SUPPORTED = "max_tokens temperature top_p seed logprobs top_logprobs response_format structured_outputs reasoning"


@dataclass(frozen=True, slots=True)
class Personality:
    """strength: how well it programs and judges programs, 0 to 1. tps: tokens per second, None for the server's.
    declines: the share of its answers that do.
    """

    strength: float
    tps: float | None = None
    thinks: bool = False
    sees: bool = False
    declines: float = 0.0


_CODERS: Final = {"oak": 0.95, "elm": 0.8, "fir": 0.62, "ash": 0.45, "yew": 0.25}
PERSONALITIES: Final = {
    "cooperative": Personality(0.52),
    "competitive": Personality(0.82),
    "drifting": Personality(0.3, thinks=True),
    "deceptive": Personality(0.44, thinks=True),
    "refusing": Personality(0.36, declines=0.4),
    "neutral": Personality(0.58),
    "sceptical": Personality(0.66),
    "practical": Personality(0.74),
    "judge": Personality(0.68, tps=300),
    "filter": Personality(0.28, tps=300),
    "vision-judge": Personality(0.5, tps=300, sees=True),
    "coder": Personality(0.7, tps=120),
    **{f"coder-{name}": Personality(strength, tps=120) for name, strength in _CODERS.items()},
}


class Refused(Exception):
    """A request that is malformed or names no model. status: of the answer that says so."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Behaviour:
    name: str
    tps: float | None = None  # tokens per second, 0 without delay, None for the personality's or the server's
    first: float = 0.3  # seconds before the first token
    words: int | None = None  # the exact length of the text
    think: str | None = None  # where the reasoning goes: none, native (the field `reasoning`) or tags
    fail: str | None = None  # one of FAILURES
    after: int = 10  # tokens that are sent before cut, reset, stall, error_event and length
    times: int | None = None  # failures per distinct request body before success, None means always
    retry_after: float | None = None  # seconds, in the header of a status failure
    json: str | None = None  # how structured answers are spoiled, one of BROKEN_JSON
    refuses: float = 0.0  # the share of answers that decline instead, 0 for the personality's
    gullible: float = 0.0  # the share of texts asking a judge for a verdict that get it
    cost: bool = False  # whether usage says what the call cost

    @property
    def personality(self) -> Personality:
        return PERSONALITIES[self.name]

    def tokens_per_second(self, default: float) -> float:
        """default: the server's pace; when it is 0, models without a pace in their name do not wait either."""
        if self.tps is not None or not default:
            return self.tps or 0.0
        return self.personality.tps or default


def parse_name(name: str) -> Behaviour:
    """Raises Refused."""
    prefix, _, rest = name.partition("/")
    personality, *options = rest.split(":")
    if prefix != "sim" or personality not in PERSONALITIES:
        raise Refused(f"no simulated model is called {name!r}; GET /v1/models lists them", 404)
    given: dict[str, Any] = {}
    for option in options:
        key, _, text = option.partition("=")
        try:
            given[key] = _OPTIONS[key](text)
        except (KeyError, ValueError) as error:
            raise Refused(f"option {option!r} is not known; known are {', '.join(_OPTIONS)}", 404) from error
    return replace(Behaviour(personality), **given)


def list_models() -> dict[str, object]:
    entry = {
        "description": "Not a language model: a deterministic simulation for demonstrations and tests.",
        "context_length": 128_000,
        "pricing": {"prompt": f"{INPUT_PRICE:f}", "completion": f"{OUTPUT_PRICE:f}"},
        "supported_parameters": SUPPORTED.split(),
    }
    listed = []
    for name, one in PERSONALITIES.items():
        kinds = {"input_modalities": ["text", "image"][: 1 + one.sees], "output_modalities": ["text"]}
        listed.append({"id": f"sim/{name}", "name": f"Simulated · {name.capitalize()}", "architecture": kinds, **entry})
    return {"object": "list", "data": listed}


def _number(text: str) -> float:
    if not 0 <= (number := float(text)) < 1e9:
        raise ValueError(text)
    return number


def _one_of(choices: str) -> Callable[[str], str]:
    return lambda text: {choice: choice for choice in choices.split("|")}[text]


_OPTIONS: Final[dict[str, Callable[[str], Any]]] = {
    **dict.fromkeys(("tps", "first", "retry_after", "refuses", "gullible"), _number),
    **dict.fromkeys(("words", "after", "times"), lambda text: int(_number(text))),
    "think": _one_of("none|native|tags"),
    "fail": _one_of(FAILURES),
    "json": _one_of(BROKEN_JSON),
    "cost": lambda text: text != "0",
}
