"""What a workflow declares of itself: the part that rules, the engine and exports need. What people meet is its
surface, see `base.surface`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pydantic import BaseModel, ConfigDict

from experiments.workflows.base.events import EventData
from experiments.workflows.base.judge import Rubric
from experiments.workflows.base.limits import Limits
from experiments.workflows.base.records import Finding
from experiments.workflows.base.steps import Cast, End, Play

Offer = tuple[int, str | None]  # turn and action; the action is None while the offer is open


class Branching(Enum):
    """From which messages of a run another one may go on. QUESTIONS: what people said, for answers are side by side."""

    ANYWHERE = "anywhere"
    QUESTIONS = "questions"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class Services:
    """What a workflow does outside its runs; the functions may need the database.

    check: whether a new experiment can be played, beyond its Config and cast: (workflow, config, participants, owner=),
    raises Invalid. start: begins the runs of a sharded workflow: (experiment, by=, seed=). queued: in the
    transaction that queues a run. ground, progress: of a sharded workflow whose campaign is not about a dataset: what
    is missing, for (campaign, tried: since when what was left open is not tried again, None for never), see
    `battles.campaign.planning.Ground`; and how far an experiment is now, for (experiment, now). connect: called once
    all apps are loaded, to connect receivers of `experiments.models.signals`.
    """

    check: Callable[..., None] = lambda *about, **more: None
    start: Callable[..., list[Any]] | None = None
    queued: Callable[[Any], None] = lambda run: None
    ground: Callable[[Any, Any], Any] | None = None
    progress: Callable[[Any, Any], Any] | None = None
    connect: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Workflow:
    """A system that is played.

    slug: at most 20 characters. place: where it stands in lists, the lowest first. config: how it is set up. seats:
    all that there can be. people: those of them that people may take. run: the generator of its steps.
    subjects: seats that a judge scores. ranked: seats whose answers ballots or votes compare with each other.
    judge: by which rules, where the scoring can be repeated by another judge; its Config has `objectives()` then.
    leads: the seat that speaks for a run in exports where nobody is judged. flagged: seats whose messages are looked
    through by `flags`. opening: the field of Config with the first words of a person. passed: where a person's words
    would have been said had the run not passed the pause: key of a message to key and reason of the pause. next_offer:
    where the next question is found when it is asked before there is an offer for it, from the offers so far: (key,
    turn). is_sharded: its work is shared out over many runs. scores_parent: its runs score the
    transcript of another run, their parent, and belong to it. executes: it needs the sandbox. private: fields of Config
    that name a person. records: its own findings; events: the data of further events about its runs. surface, rows,
    services: modules that are loaded when they are first needed. is_missing: it stands in for one that is not
    installed.
    """

    slug: str
    config: type[BaseModel]
    seats: tuple[str, ...]
    run: Callable[[Any, Cast], Play]
    place: int = 100
    people: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    ranked: tuple[str, ...] = ()
    judge: Rubric | None = None
    leads: str = ""
    flagged: tuple[str, ...] = ()
    opening: str = ""
    passed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    next_offer: Callable[[Sequence[Offer]], tuple[str, int]] | None = None
    branches: Branching = Branching.ANYWHERE
    is_sharded: bool = False
    scores_parent: bool = False
    executes: bool = False
    private: tuple[str, ...] = ()
    records: tuple[type[Finding], ...] = ()
    events: tuple[type[EventData], ...] = ()
    surface: str = ""
    rows: str = ""
    services: str = ""
    is_missing: bool = False

    @property
    def stored_without(self) -> Mapping[str, Any]:
        """Settings that older configurations were stored without, as they were before the settings existed."""
        return getattr(self.config, "STORED_WITHOUT", {})


class AnyConfig(BaseModel):
    """A configuration that is shown as it was stored, for its workflow is not installed any more."""

    model_config = ConfigDict(extra="allow")

    limits: Limits = Limits()
    max_turns: int | None = None

    def seats(self, named: Collection[str] = ()) -> tuple[str, ...]:
        return tuple(named)

    def optional_seats(self) -> tuple[str, ...]:
        return ()

    def summary(self) -> str:
        return ""


def missing(slug: str) -> Workflow:
    """In the place of a workflow that is not installed (any more): its runs are read, and none goes on."""
    return Workflow(
        slug=slug, config=AnyConfig, seats=(), run=_not_installed, branches=Branching.NOWHERE, is_missing=True
    )


def _not_installed(config: Any, cast: Cast) -> Play:
    yield []
    return End("workflow_missing", failed=True, message="The workflow of this run is not installed.")
