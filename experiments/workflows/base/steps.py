"""The vocabulary in which a workflow says what is to happen next, and what it is told happened."""

import hashlib
import random
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from experiments.workflows.base.material import Sees, Unit
from experiments.workflows.base.records import Record

Role = Literal["system", "user", "assistant"]
# purposes whose answers are messages
SPOKEN = frozenset({"reply", "review", "conclusion", "refinement", "summary", "problem", "solution"})


@dataclass(frozen=True, slots=True)
class Stored:
    """Material too large to carry about: the engine puts it into a prompt just before that is sent.

    sample, contestant: their keys. "instruction" and "images" belong to the sample, "output" (a text or an image) to
    the contestant, a "transcript" is an Excerpt.
    """

    what: Literal["instruction", "images", "output", "transcript"]
    sample: int = 0
    contestant: int | None = None


@dataclass(frozen=True, slots=True)
class Excerpt(Stored):
    """A part of another run's transcript, as far as `sees` says and the owner of the run that asks may see it.

    run: its id, "" for the run that asks. place: the number of the message (its `seq`), of the last one of a pair, of
    the first one of a span, or of the turn; 0 for the whole run. step: the key of the step whose message is meant, in
    the place of its number. length: how many messages a span has. token: what the fences in it are made with.
    """

    run: str = ""
    unit: Unit = "run"
    place: int = 0
    step: str = ""
    length: int = 0
    sees: Sees = field(default_factory=Sees)
    token: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One message of what a model is asked. parts: texts and stored material in order, instead of `content`.

    token: what the fences around stored material are made with; stored text that contains it is sent without it.
    """

    role: Role
    content: str = ""
    parts: tuple[str | Stored, ...] = ()
    token: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """One completion from the model in `seat`.

    purpose: what the answer is for; those of SPOKEN become messages of the transcript. schema: the JSON schema that the
    answer has to follow; if_native: only where the model takes one, the prompt alone says it to the others. params:
    sampling defaults of this purpose, which the seat's own override. role: whose limit of tokens, set by the server,
    holds. room: tokens that the answer may have at least, where its seat allows fewer. delay: seconds to let pass
    before asking. draw: from what its sampling is drawn, beside the run's seed; the key, unless named: an attempt after
    a failure draws the same, another answer to the same question does not. played_by: the seat whose model answers for
    `seat`, when it is not its own. patience: the longest pause in seconds before another attempt, when somebody else
    could be asked instead. keeps_partial: what had arrived of an answer that broke off for good becomes a message,
    marked as cut. deadline: seconds that each attempt may take; None for the usual ones. attempts: how many there may
    be at most; None for the usual ones. inspect: what looks wrong with an answer, as names of `flags`.
    """

    key: str
    seat: str
    messages: tuple[Prompt, ...]
    purpose: str = "reply"
    turn: int | None = None
    schema: dict[str, object] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    prompt_version: str = ""
    delay: float = 0.0
    draw: str = ""
    if_native: bool = False
    role: str = ""
    room: int = 0
    played_by: str = ""
    patience: float | None = None
    keeps_partial: bool = False
    deadline: float | None = None
    attempts: int | None = None
    inspect: Callable[[str], Sequence[str]] | None = field(default=None, compare=False)

    @property
    def is_spoken(self) -> bool:
        return self.purpose in SPOKEN


@dataclass(frozen=True, slots=True)
class Execute:
    """Code that the sandbox runs against tests. It is not paid for, and may be run again after a death.

    seat: whose code it is. entry: the function that is called. tests: each with `name`, `arguments` (a list) and
    `expected`, plain JSON. comparison: exact, tolerance or unordered. seconds, memory (bytes): of each test.
    until_failure: the tests after the first one that is not passed say nothing new, and are not run.
    """

    key: str
    seat: str
    code: str
    entry: str
    tests: tuple[Mapping[str, Any], ...]
    comparison: str = "exact"
    language: str = "python"
    seconds: float = 5.0
    memory: int = 256 << 20
    until_failure: bool = False
    purpose: str = "execution"
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Listen:
    """A pause until a person says something. `default` is what is said when they leave it at that.

    reason: why it pauses, one word. seat: who is to speak next. actions: what may be said. may_pass: while the run is
    automatic nobody is asked, and the outcome is the action `default` at once. error: why the last attempt failed.
    is_offer: nothing waits for it; a run that has nothing but offers left is completed, and goes on when somebody takes
    one up.
    """

    key: str
    reason: str
    actions: tuple[str, ...]
    default: str = ""
    seat: str = ""
    turn: int | None = None
    may_pass: bool = False
    error: str = ""
    is_offer: bool = False


Step = Ask | Execute | Record | Listen


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a step. `ok` False is data: error_kind and error say why, text holds what had arrived. reasoning:
    what the model thought before its answer, for workflows that pass it on.

    action: what a person chose; edited: they sent something else than they were shown; passed: nobody was asked,
    because the run is automatic. found: what the sandbox did.
    """

    ok: bool = True
    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    error_kind: str = ""
    error: str = ""
    action: str = ""
    edited: bool = False
    passed: bool = False
    found: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class End:
    """How a workflow ends by itself. failed: it could not go on; stopped: a person wanted no more. reason and message
    say why.
    """

    reason: str
    failed: bool = False
    message: str = ""
    stopped: bool = False


STOPPED = End("manual_stop", stopped=True)


@dataclass(frozen=True, slots=True)
class Seat:
    """Somebody seated, as a workflow sees them. called: names by which they could give themselves away. is_person: what
    is asked of the seat is asked of a person, who takes minutes, costs nothing and may give no answer in time.
    """

    name: str
    persona: str = ""
    called: tuple[str, ...] = ()
    is_person: bool = False


@dataclass(frozen=True, slots=True)
class Cast:
    """Everybody seated, and the seed from which all of the run's randomness comes."""

    seats: Mapping[str, Seat]
    seed: int = 0

    def random(self, key: str) -> random.Random:
        return random.Random(f"{self.seed}/{key}")

    def fence(self, key: str) -> str:
        """A token that text produced before it cannot contain: fences of untrusted text are made with it."""
        return hashlib.sha256(f"fence/{self.seed}/{key}".encode()).hexdigest()[:12]


Yielded = Step | Sequence[Step] | Sequence["Play"]
Play = Generator[Yielded, Any, End | Any]


def numbered(key: str, number: int) -> str:
    """The key of a step that may be taken several times: the first time it stands alone."""
    return key if number == 1 else f"{key}/{number}"
