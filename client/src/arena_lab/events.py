"""Events of a run: durable, numbered facts; and deltas, the words while they are being said."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from arena_lab.errors import BadAnswer
from arena_lab.records import Ballot, Judgment, Message, Pause, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Record):
    """A numbered fact. seq counts from 1 in each run, without a gap; data is what the platform says about it."""

    v: int = 1
    run: str
    seq: int
    type: str
    data: Mapping[str, Any]
    at: datetime

    @property
    def turn(self) -> int | None:
        found = self.data.get("turn")
        return found if isinstance(found, int) else None

    @property
    def ends(self) -> bool:
        """Whether the run was over when this happened; it may have gone on since."""
        return self.type in ("experiment_stopped", "experiment_error")

    def __str__(self) -> str:
        return f"[{self.seq}] {self.words()}"

    def words(self) -> str:
        """The event in one line, or a few."""
        turn = "" if self.turn is None else f" {self.turn}"
        return f"{self.type.replace('_', ' ')}{turn}"


class Said(Event):
    """A message is complete, or was changed afterwards: `message` is how it stands now."""

    __slots__ = ()

    @property
    def message(self) -> Message:
        return Message.read(self.data)

    def words(self) -> str:
        return f"{self.data.get('seat', '')}: {self.data.get('text', '')}"


class Judged(Event):
    """A judge has scored a turn or a solution."""

    __slots__ = ()

    @property
    def judgments(self) -> tuple[Judgment, ...]:
        alone = self.data.get("judgment")
        listed = [alone] if alone else self.data.get("judgments", [])
        if not isinstance(listed, list):
            raise BadAnswer(f"{self.type}: judgments is no list.")
        return tuple(map(Judgment.read, listed))

    def words(self) -> str:
        return "\n".join(_scored(one) for one in self.judgments) or "nothing was judged"


class BallotRead(Event):
    """A member of a council has ranked the answers, or abstained."""

    __slots__ = ()

    @property
    def ballot(self) -> Ballot:
        return Ballot.read(self.data.get("ballot"))

    def words(self) -> str:
        ballot = self.ballot
        if ballot.order is None:
            return f"{ballot.reviewer} abstained: {ballot.abstained_reason}"
        return f"{ballot.reviewer} ranked {' > '.join(' = '.join(group) for group in ballot.order)}"


class BattleJudged(Event):
    """winner: left, right, tie or both_bad; empty when it stays open."""

    __slots__ = ()

    @property
    def winner(self) -> str:
        return str(self.data.get("winner", ""))

    def words(self) -> str:
        pair = f"{self.data.get('left_name', 'left')} against {self.data.get('right_name', 'right')}"
        return f"{pair}: {self.winner or self.data.get('open_reason') or 'open'}"


class Executed(Event):
    """The sandbox has run a solution, or the solution of whoever set the problem, on the tests."""

    __slots__ = ()

    def words(self) -> str:
        told = f"{self.data.get('seat', '')}: {self.data.get('passed', 0)} of {self.data.get('of', 0)} tests passed"
        why = self.data.get("complaint") or self.data.get("error")
        return f"{told} ({why})" if why else told


class CycleRated(Event):
    """A cycle of a coding contest is over. means: of the votes on each solution with enough of them, 0 to 10. overall:
    the mean of those, None where there is none. passed: shares of the tests. unrated: why a seat has no mean.
    """

    __slots__ = ()

    @property
    def best(self) -> tuple[str, ...]:
        """The seats with the highest mean."""
        means = self.data.get("means") or {}
        return tuple(seat for seat, mean in means.items() if mean == max(means.values()))

    def words(self) -> str:
        means, passed = self.data.get("means") or {}, self.data.get("passed") or {}
        lines = [
            f"{seat}: mean vote {mean:.1f}{f', tests passed {passed[seat]:.0%}' if seat in passed else ''}"
            for seat, mean in sorted(means.items(), key=lambda one: (-one[1], one[0]))
        ]
        lines += [f"{seat}: no mean ({why})" for seat, why in (self.data.get("unrated") or {}).items()]
        overall = self.data.get("overall")
        said = "no mean vote" if overall is None else f"mean of all {overall:.1f}, best {' = '.join(self.best)}"
        return "\n".join([*lines, f"cycle {self.turn}: {said}"])


class Waiting(Event):
    """Somebody is asked for words, or may say some."""

    __slots__ = ()

    @property
    def pause(self) -> Pause:
        return Pause.read(self.data)

    def words(self) -> str:
        pause = self.pause
        actions = f": {', '.join(pause.actions)}" if pause.actions else ""
        return f"{'waits for you' if self.type == 'waiting_for_user' else 'you may go on'}{actions}"


class Ended(Event):
    """The run was over. state: completed, stopped or failed."""

    __slots__ = ()

    @property
    def state(self) -> str:
        return str(self.data.get("state", ""))

    @property
    def reason(self) -> str:
        return str(self.data.get("reason", ""))

    def words(self) -> str:
        why = self.data.get("message") or self.reason
        return f"{self.state}: {why}" if why else self.state


KINDS: dict[str, type[Event]] = {
    "message_completed": Said,
    "message_altered": Said,
    "message_parsed": Said,
    "judge_evaluation_completed": Judged,
    "solution_judged": Judged,
    "ballot_read": BallotRead,
    "battle_judged": BattleJudged,
    "solution_executed": Executed,
    "cycle_rated": CycleRated,
    "waiting_for_user": Waiting,
    "offer_opened": Waiting,
    "experiment_stopped": Ended,
    "experiment_error": Ended,
}


def read_event(envelope: Any) -> Event:
    """As the class of its type; of a type that this version does not know, as a plain Event."""
    kind = envelope.get("type") if isinstance(envelope, dict) else None
    return KINDS.get(str(kind), Event).read(envelope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta(Record):
    """A piece of what a model is saying. Pieces may overlap or be lost: `offset` says where in the text it belongs, and
    the message that follows has all of it.
    """

    call: str
    seat: str = ""
    turn: int | None
    purpose: str = ""
    offset: int
    text: str
    reasoning_offset: int = 0
    reasoning: str = ""


def _scored(judgment: Judgment) -> str:
    name = f"{judgment.subject} by {judgment.judge}" if judgment.judge else judgment.subject
    if judgment.scores is None:
        return f"{name}: no score ({judgment.unscored_reason})"
    scores = [f"{measure} {value:g}" for measure, value in judgment.scores.items() if isinstance(value, int | float)]
    return f"{name}: {', '.join(scores)}"
