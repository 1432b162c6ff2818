"""What a contest remembers: who takes part, which problems were set, and why it cannot go on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from experiments.workflows.base.prompts import fenced, fill
from experiments.workflows.base.records import MessageSuperseded, Record
from experiments.workflows.base.steps import Ask, Cast, End, Execute, Outcome, Prompt
from experiments.workflows.coding.config import CODERS, LEAST_CODERS, Config, Earlier
from experiments.workflows.coding.novelty import as_earlier
from experiments.workflows.coding.problems import Problem, Test

LOST_FOR_GOOD = ("bad_key", "out_of_credit", "unknown_model", "forbidden_address")  # errors that a person has to mend
NO_SANDBOX = "sandbox_unavailable"
LANGUAGES = {"python": "Python 3"}
LONGEST_REASON = 500
LONGEST_ANSWER = 60_000  # characters of one that is to be mended


@dataclass(slots=True)
class Contest:
    """pool: seats that take part now. left: why the others do not, by seat; those that are limited may come back.
    earlier: problems not to be set again.
    """

    config: Config
    cast: Cast
    pool: tuple[str, ...] = ()
    left: dict[str, str] = field(default_factory=dict)
    limited: set[str] = field(default_factory=set)
    earlier: list[Earlier] = field(default_factory=list)
    end: End | None = None

    @property
    def seats(self) -> tuple[str, ...]:
        return tuple(seat for seat in CODERS if seat in self.cast.seats)

    @property
    def language(self) -> str:
        return LANGUAGES[self.config.language]

    def names(self, seat: str) -> tuple[str, ...]:
        """By which a model could give itself away."""
        return self.cast.seats[seat].called

    def remember(self, problem: Problem) -> None:
        self.earlier.append(as_earlier(problem))

    def note_failure(self, seat: str, outcome: Outcome) -> None:
        """A model that nobody can ask any more leaves the contest after the cycle; one that failed once does not."""
        if outcome.error_kind in LOST_FOR_GOOD:
            self.left.setdefault(seat, outcome.error)

    def note_sandbox(self, outcome: Outcome, *, is_needed: bool = False) -> None:
        """Without a sandbox there is no contest; one that failed at a solution leaves that without evidence, one that
        failed at what the cycle needs ends the run, which can be resumed.
        """
        if outcome.error_kind == NO_SANDBOX or (is_needed and not outcome.ok):
            self.end = self.end or End(outcome.error_kind, failed=True, message=outcome.error)

    def check_pool(self) -> None:
        """Between two cycles: within one the pool stays as it is, or what is asked would depend on who fails first."""
        self.pool = tuple(seat for seat in self.seats if seat not in self.left)
        needed = max(LEAST_CODERS, self.config.quorum + 1)
        if len(self.pool) >= needed or self.end:
            return
        why = "; ".join(f"{called(seat)}: {self.left[seat]}" for seat in self.seats if seat in self.left)
        words = f"Only {len(self.pool)} of {len(self.seats)} models can take part, and {needed} are needed. {why}"
        words = f"{words.rstrip('.')}. Mend that and start another contest: what was rated counts."
        self.end = End("pool_too_small", failed=True, message=words)


@dataclass(slots=True)
class Round:
    """One cycle: its setter, its problem once there is one, and what became of everybody's solution.

    coders: who takes part in it. code, explanation: of the solutions, by seat. passed: the share of tests, 0 to 1, of
    those that were run. votes: by solver, the recomputed overall of each judge. unrated: why a solver has no score.
    """

    contest: Contest
    turn: int
    setter: str
    coders: tuple[str, ...]
    problem: Problem | None = None
    passed: dict[str, float] = field(default_factory=dict)
    votes: dict[str, dict[str, float]] = field(default_factory=dict)
    unrated: dict[str, str] = field(default_factory=dict)

    @property
    def base(self) -> str:
        return f"cycle/{self.turn}"

    def ask(self, key: str, seat: str, purpose: str, prompt: str, **more: Any) -> Ask:
        return Ask(
            key=key,
            seat=seat,
            turn=self.turn,
            purpose=purpose,
            messages=(Prompt("user", prompt),),
            deadline=self.contest.config.call_seconds,
            **more,
        )

    def superseded(self, key: str) -> Record:
        """An answer that could not be taken stays in the record, and another one takes its place."""
        return Record(f"{key}/superseded", MessageSuperseded(message=key), turn=self.turn)

    def repair(self, key: str, first: Ask, answer: str, reason: str, **more: Any) -> Ask:
        """The same question, with what was wrong with the answer to it."""
        token = self.contest.cast.fence(key)
        told = fill(
            "coding/repair",
            token=token,
            reason=fenced("reason", reason, token),
            answer=fenced("answer", shortened(answer, LONGEST_ANSWER), token),
        )
        prompt = f"{first.messages[0].content}\n\n{told}"
        return self.ask(
            key, first.seat, more.pop("purpose", "repair"), prompt, schema=first.schema, if_native=True, **more
        )

    def execute(self, key: str, seat: str, code: str, tests: tuple[Test, ...], **more: Any) -> Execute:
        config, problem = self.contest.config, self.problem
        entry, comparison = (problem.entry, problem.comparison) if problem else ("", "exact")
        same = {"entry": entry, "comparison": comparison, "seconds": config.test_seconds}
        return Execute(
            key=key,
            seat=seat,
            turn=self.turn,
            code=code,
            tests=tuple(test.data for test in tests),
            language=config.language,
            memory=config.test_megabytes << 20,
            **{**same, **more},
        )


def called(seat: str) -> str:
    """What a seat is called in a sentence: Coder 2."""
    return seat.replace("-", " ").capitalize()


def shortened(text: str, longest: int = LONGEST_REASON) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def closed(properties: Mapping[str, Any]) -> dict[str, object]:
    """The schema of an object that has all of these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
