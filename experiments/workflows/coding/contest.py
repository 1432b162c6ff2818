"""What a contest remembers: who takes part, which problems were set, and why it cannot go on; and what a cycle asks."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from experiments.workflows.base.parsing import Unreadable
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import MessageSuperseded, Record
from experiments.workflows.base.steps import Ask, Cast, End, Execute, Outcome, Prompt
from experiments.workflows.coding.config import CODERS, LEAST_CODERS, Config, Earlier
from experiments.workflows.coding.problems import Problem, Test, as_earlier
from experiments.workflows.coding.records import Checked, PoolChecked

LOST_FOR_GOOD = ("bad_key", "out_of_credit", "unknown_model", "forbidden_address")  # errors that a person has to mend
NO_SANDBOX = "sandbox_unavailable"
LANGUAGES = {"python": "Python 3"}
LONGEST_REASON = 500
LONGEST_ANSWER = 60_000  # characters of one that is to be mended
HEALTH = "coding/health"
REPAIR = "coding/repair"
HEALTH_TOKENS = 1_024  # a reasoning model needs some hundreds before its first word
HEALTH_SECONDS = 40.0
RATE_LIMITED = "rate_limited"
CUT_OFF = "empty_answer"

Playing = Generator[Any, Any, None]
Found = TypeVar("Found")


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
        reasons = [f"{_called(seat)}: {self.left[seat]}" for seat in self.seats if seat in self.left]
        words = f"Only {len(self.pool)} of {len(self.seats)} models can take part, and {needed} are needed."
        words = f"{words} {'; '.join(reasons)}".rstrip(".")
        words = f"{words}. Mend that and start another contest: what was rated counts."
        self.end = End("pool_too_small", failed=True, message=words)


def _called(seat: str) -> str:
    """What a seat is called in a sentence: Coder 2."""
    return seat.replace("-", " ").capitalize()


# --- who can take part: all are asked for one word, side by side, before anything is paid for in earnest ---


def gather(contest: Contest) -> Playing:
    """The pool of the first cycle. Whoever fails is left out; a skipped check leaves everybody in."""
    contest.pool = contest.seats
    if contest.config.health_check:
        yield from _check(contest, contest.seats, 1)
    else:
        yield _checked(contest, 1, [Checked(seat=seat, state="skipped", error="") for seat in contest.seats])


def look_again(contest: Contest, turn: int) -> Playing:
    """Before a later cycle: models that were rate-limited are asked once more, and come back when they answer."""
    limited = [seat for seat in contest.seats if seat in contest.limited]
    if limited and contest.config.health_check:
        yield from _check(contest, limited, turn)


def _check(contest: Contest, seats: Sequence[str], turn: int) -> Playing:
    asks = [
        Ask(
            key=f"health/{turn}/{seat}",
            seat=seat,
            purpose="health",
            turn=turn,
            messages=(Prompt("user", fill(HEALTH)),),
            params={"temperature": 0.0, "max_tokens": HEALTH_TOKENS},
            prompt_version=version(HEALTH),
            patience=0.0,
            deadline=HEALTH_SECONDS,
        )
        for seat in seats
    ]
    outcomes: list[Outcome] = yield asks
    checked = []
    for ask, outcome in zip(asks, outcomes, strict=True):
        seat, state, error = ask.seat, "ok", ""
        contest.left.pop(seat, None)
        contest.limited.discard(seat)
        # A model that had nothing but thoughts within the tokens it was given is there, too.
        if not outcome.ok and outcome.error_kind != CUT_OFF:
            state = RATE_LIMITED if outcome.error_kind == RATE_LIMITED else "failed"
            error = contest.left[seat] = outcome.error
            if state == RATE_LIMITED:
                contest.limited.add(seat)
        checked.append(Checked(seat=seat, state=state, error=error, key=ask.key))
    contest.check_pool()
    yield _checked(contest, turn, checked)


def _checked(contest: Contest, turn: int, checked: list[Checked]) -> Record:
    return Record(f"health/{turn}", PoolChecked(turn=turn, checked=checked, pool=list(contest.pool)), turn=turn)


# --- one cycle ---


@dataclass(frozen=True, slots=True)
class Answer(Generic[Found]):
    """What was read of the answer to `ask`, the last time that it was asked. found None: `error` says why there was no
    answer, or `unread` why it could not be read.
    """

    ask: Ask
    found: Found | None = None
    error: str | None = None
    unread: str = ""


@dataclass(slots=True)
class Round:
    """One cycle: its setter, its problem once there is one, and what became of everybody's solution.

    coders: who takes part in it. passed: the share of tests, 0 to 1, of the solutions that were run, by seat. votes: by
    solver, the recomputed overall of each judge. unrated: why a solver has no score.
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
        messages, deadline = (Prompt("user", prompt),), self.contest.config.call_seconds
        return Ask(
            key=key,
            seat=seat,
            turn=self.turn,
            purpose=purpose,
            messages=messages,
            deadline=deadline,
            if_native=True,
            **more,
        )

    def superseded(self, key: str) -> Record:
        """An answer that could not be taken stays in the record, and another one takes its place."""
        return Record(f"{key}/superseded", MessageSuperseded(message=key), turn=self.turn)

    def repair(self, first: Ask, answer: str, reason: str, purpose: str) -> Ask:
        """The same question, with what was wrong with the answer to it."""
        key = f"{first.key}/repair"
        token = self.contest.cast.fence(key)
        told = fill(
            REPAIR,
            token=token,
            reason=fenced("reason", reason, token),
            answer=fenced("answer", shortened(answer, LONGEST_ANSWER), token),
        )
        prompt = f"{first.messages[0].content}\n\n{told}"
        return replace(first, key=key, purpose=purpose, messages=(Prompt("user", prompt),))

    def answered(
        self, first: Ask, read: Callable[[str], Found], *, purpose: str = "repair", is_message: bool = False
    ) -> Generator[Any, Any, Answer[Found]]:
        """The answer as `read` takes it, which raises Unreadable; asked for a second time where it could not be read.

        purpose: of the second question. is_message: the page shows the answers, and that the second one counts.
        """
        ask, unread = first, ""
        for attempt in (1, 2):
            outcome: Outcome = yield ask
            if not outcome.ok:
                self.contest.note_failure(first.seat, outcome)
                return Answer(ask, error=outcome.error)
            try:
                return Answer(ask, read(outcome.text))
            except Unreadable as error:
                unread = str(error)
            if attempt == 1:
                if is_message:
                    yield self.superseded(ask.key)
                ask = self.repair(first, outcome.text, unread, purpose)
        return Answer(ask, unread=unread)

    def execute(self, key: str, seat: str, code: str, tests: tuple[Test, ...], **more: Any) -> Execute:
        config, problem = self.contest.config, self.problem
        entry, comparison = (problem.entry, problem.comparison) if problem else ("", "exact")
        return Execute(
            key=key,
            seat=seat,
            turn=self.turn,
            code=code,
            tests=tuple(test.data for test in tests),
            language=config.language,
            memory=config.test_megabytes << 20,
            **{"entry": entry, "comparison": comparison, "seconds": config.test_seconds, **more},
        )


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
