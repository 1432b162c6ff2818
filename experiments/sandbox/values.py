"""What goes into the sandbox and what comes out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args

KIB = 1024
MIB = 1024 * KIB
JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
Value: TypeAlias = "JSON | Set | list[Value] | dict[str, Value]"
Comparison = Literal["exact", "tolerance", "unordered"]
Verdict = Literal["passed", "failed", "error", "timeout", "memory", "output_limit", "not_run"]
BackendName = Literal["bubblewrap", "namespaces", "landlock", "docker", "unsafe"]
Stopped = Literal["", "timeout", "output_limit", "result_limit", "cancelled"]
COMPARISONS: tuple[Comparison, ...] = get_args(Comparison)


class SandboxError(Exception):
    """Anything the sandbox raises."""


class Unavailable(SandboxError):
    """Nothing here keeps strange code in well enough. The message says what is missing and how to get it."""


class NotStarted(SandboxError):
    """A box did not come up, or came up with less than was asked for. The message is what it said."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Raises ValueError when one of them is not above zero.

    `memory` is for what the program itself asks for, on top of what the bare interpreter needs. `output` counts what it
    prints on both channels together; `result` the text of the value it answers with. `processes` are threads: a program
    can start no process at all.
    """

    seconds: float = 5.0  # of the clock and of the processor, for each test
    total_seconds: float = 120.0  # of the clock, for all tests together
    memory: int = 256 * MIB  # bytes
    output: int = MIB  # bytes
    result: int = MIB  # bytes
    file_size: int = 4 * MIB  # bytes of one file
    disk: int = 16 * MIB  # bytes of all files together
    entries: int = 4_000  # files and folders, empty ones too: the kernel's memory is finite
    files: int = 64  # open at once
    processes: int = 32
    stack: int = 64 * MIB  # bytes of the main thread's stack
    depth: int = 200  # lists in lists of the value
    items: int = 200_000  # things in the value, those in its lists and objects included

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not getattr(self, limit.name) > 0:
                raise ValueError(f"{limit.name} must be above zero")

    def for_box(self) -> dict[str, int | float]:
        """The limits as they travel to the box."""
        return {limit.name: getattr(self, limit.name) for limit in fields(self)}


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
class Set:
    """A set's items, in no order that means anything."""

    items: list["Value"]


@dataclass(slots=True)
class Ended:
    """What a box said until it ended. `status` is the kernel's wait status of the candidate, None when the box was
    ended from outside; `peak_memory` is in bytes, `seconds` are of the clock since the candidate was let go."""

    layers: tuple[str, ...] = ()
    stopped: Stopped = ""
    status: int | None = None
    peak_memory: int | None = None
    processor_seconds: float = 0.0
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    result: bytearray = field(default_factory=bytearray)
    seconds: float = 0.0


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

    def as_json(self) -> dict[str, object]:
        """Plain JSON, from which `from_json` makes an equal execution."""
        return {**shallow(self), "results": [shallow(result) for result in self.results], "layers": list(self.layers)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Execution":
        """Raises TypeError or KeyError for what `as_json` did not write."""
        results = tuple(Result(**result) for result in data["results"])
        return cls(**{**data, "results": results, "layers": tuple(data["layers"])})


def shallow(value: Result | Execution) -> dict[str, object]:
    return {each.name: getattr(value, each.name) for each in fields(value)}


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
