"""What goes into the sandbox and what comes out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, get_args

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
Comparison = Literal["exact", "tolerance", "unordered"]
Verdict = Literal["passed", "failed", "error", "timeout", "memory", "output_limit", "not_run"]
BackendName = Literal["bubblewrap", "namespaces", "landlock", "docker", "unsafe"]

COMPARISONS: tuple[Comparison, ...] = get_args(Comparison)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
BACKENDS: tuple[BackendName, ...] = get_args(BackendName)


@dataclass(frozen=True, slots=True)
class Test:
    """One call and what it should answer. Raises ValueError for a comparison that there is not."""

    __test__ = False  # pytest would take it for a class of tests

    name: str
    arguments: Sequence[JSON]
    expected: JSON
    comparison: Comparison = "exact"

    def __post_init__(self) -> None:
        if self.comparison not in COMPARISONS:
            raise ValueError(f"no comparison {self.comparison!r}; there are {', '.join(COMPARISONS)}")


@dataclass(frozen=True, slots=True)
class Result:
    """What one test showed. `value` counts only where `has_value`; `seconds` are of the clock, from the moment that
    the box was ready; `peak_memory` is in bytes, the interpreter's own 8 MB included, None where unknown."""

    name: str
    verdict: Verdict
    value: JSON = None
    has_value: bool = False
    error: str = ""
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    peak_memory: int | None = None


@dataclass(frozen=True, slots=True)
class Execution:
    """What a program did with its tests, in their order. With a `complaint` nothing could be run."""

    results: tuple[Result, ...]
    complaint: str
    backend: BackendName
    layers: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> int:
        return sum(result.verdict == "passed" for result in self.results)

    @property
    def total(self) -> int:
        return len(self.results)

    @property
    def is_unsafe(self) -> bool:
        return self.backend == "unsafe"

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, from which `from_json` makes an equal execution."""
        return {**shallow(self), "results": [shallow(result) for result in self.results], "layers": list(self.layers)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Execution":
        """Raises TypeError or KeyError for what `as_json` did not write."""
        results = tuple(Result(**result) for result in data["results"])
        return cls(**{**data, "results": results, "layers": tuple(data["layers"])})


def shallow(value: Result | Execution) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


@dataclass(frozen=True, slots=True)
class Layer:
    """One wall of the box, or one attack upon it, and whether it holds."""

    name: str
    holds: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a backend keeps in, found out by attacking it. `refusal` is empty when it suffices."""

    backend: BackendName | None
    layers: tuple[Layer, ...]
    is_sufficient: bool
    refusal: str
