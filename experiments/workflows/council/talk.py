"""What a council remembers: who sits in it, what it has been asked and has concluded, and the question before it."""

from dataclasses import dataclass, field
from functools import lru_cache

from experiments.workflows.base.flags import language_of
from experiments.workflows.base.labels import labels_for
from experiments.workflows.base.records import Record, StageStarted
from experiments.workflows.base.script import next_line
from experiments.workflows.base.steps import Cast, Outcome, Prompt, numbered
from experiments.workflows.council.config import CHAIRS, MEMBERS, Config
from experiments.workflows.council.counting import Ballot, Standing, leaders, standings

STAGES = {"answers": 1, "reviews": 2, "conclusion": 3}
TRUNCATED = "length"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and what the council concluded."""

    question: str
    conclusion: str


@dataclass(slots=True)
class Talk:
    """The council and its memory. place: in the script, of the next question."""

    config: Config
    cast: Cast
    exchanges: list[Exchange] = field(default_factory=list)
    place: int = 0

    @property
    def members(self) -> tuple[str, ...]:
        return tuple(seat for seat in MEMBERS if seat in self.cast.seats)

    @property
    def chairs(self) -> tuple[str, ...]:
        return tuple(seat for seat in CHAIRS if seat in self.cast.seats)

    @property
    def past(self) -> tuple[Prompt, ...]:
        """The earlier questions with what was concluded, as a talk."""
        return tuple(
            prompt
            for exchange in self.exchanges
            for prompt in (Prompt("user", exchange.question), Prompt("assistant", exchange.conclusion))
        )

    def next_question(self, turn: int, concluded: str) -> str:
        """What the script asks once `turn` is concluded; "" when it is over."""
        script = self.config.script
        number = next_line(script, self.place, concluded) if turn != self.config.max_turns else None
        self.place = len(script) if number is None else number + 1
        return "" if number is None else script[number].text

    def names(self, seat: str) -> tuple[str, ...]:
        """By which a model could give itself away."""
        return self.cast.seats[seat].called


@dataclass(slots=True)
class Deliberation:
    """The answers ranked once. number: 1, and one more each time that they are all ranked anew. offered: whom each
    reviewer was shown, in order; empty where there was nothing to rank. reviews, ballots and abstained (the reason why)
    by reviewer.
    """

    number: int
    seats: tuple[str, ...]
    with_own: bool = False
    offered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    reviews: dict[str, str] = field(default_factory=dict)
    ballots: dict[str, Ballot] = field(default_factory=dict)
    abstained: dict[str, str] = field(default_factory=dict)

    def labels(self, reviewer: str) -> dict[str, str]:
        """Response A and so on to seats, in the order in which a reviewer was shown the answers."""
        offered = self.offered[reviewer]
        return dict(zip(labels_for(len(offered)), offered, strict=True))

    @property
    def standings(self) -> list[Standing]:
        return standings(self.seats, list(self.ballots.values()))

    @property
    def best(self) -> list[str]:
        """Those whom nobody beats; the only one where there was nothing to rank; none without a ballot."""
        return list(self.seats) if len(self.seats) == 1 else leaders(self.standings)

    @property
    def skipped(self) -> str:
        """Why there is no ranking; "" where there is one."""
        if len(self.seats) == 1:
            return "one_answer"
        return "" if self.ballots else "no_ballots"


@dataclass(slots=True)
class Sitting:
    """One question before the council, with all that has been done about it so far.

    answers: what became of each member's latest one; keys: of their steps. deliberation: the latest one. conclusion:
    the key and the text of the one that stands. taken: how often each step was taken that is numbered.
    """

    talk: Talk
    turn: int
    question: str
    answers: dict[str, Outcome] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    deliberation: Deliberation | None = None
    conclusion: str = ""
    concluded: str = ""
    taken: dict[str, int] = field(default_factory=dict)

    @property
    def language(self) -> str | None:
        """That of the question. Asked for once the first answer is there: to tell it may take most of a second."""
        return _language(self.question)

    @property
    def base(self) -> str:
        return f"turn/{self.turn}"

    @property
    def held(self) -> Deliberation:
        """The latest deliberation. There is one before anything is concluded, or done again."""
        if self.deliberation is None:
            raise LookupError("the answers have not been ranked yet")
        return self.deliberation

    @property
    def silent(self) -> tuple[str, ...]:
        """Members without an answer that can be ranked."""
        return tuple(seat for seat in self.talk.members if not self.has_answered(seat))

    @property
    def survivors(self) -> tuple[str, ...]:
        """Members whose answer can be ranked, in the order of their seats."""
        return tuple(seat for seat in self.talk.members if self.has_answered(seat))

    def has_answered(self, seat: str) -> bool:
        answer = self.answers.get(seat)
        if answer is None or not answer.ok or not answer.text.strip():
            return False
        return self.talk.config.truncated == "eligible" or answer.finish_reason != TRUNCATED

    def next_key(self, name: str) -> str:
        """The key of the next step of this name within the turn: numbered from the second time on."""
        self.taken[name] = self.taken.get(name, 0) + 1
        return numbered(f"{self.base}/{name}", self.taken[name])

    def stage(self, name: str) -> Record:
        stage = StageStarted(turn=self.turn, stage=name, number=STAGES[name], of=len(STAGES))
        return Record(self.next_key(f"stage/{name}"), stage, turn=self.turn)


@lru_cache(maxsize=64)
def _language(question: str) -> str | None:
    return language_of(question)


def called(seat: str) -> str:
    """What a seat is called in a prompt: Member 2."""
    return seat.replace("-", " ").capitalize()
