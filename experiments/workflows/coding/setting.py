"""A problem is set: asked for, read, and proved to be one before anybody has to solve it."""

import io
import random
import tokenize
from collections import Counter, deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.workflows.base.parsing import Unreadable
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import MessageParsed, Record
from experiments.workflows.base.steps import Ask, Execute, Outcome
from experiments.workflows.coding.config import LEAST_HIDDEN, MOST_HIDDEN, SHOWN_TESTS
from experiments.workflows.coding.contest import Contest, Round, closed, shortened
from experiments.workflows.coding.judging import count_passed, value_of
from experiments.workflows.coding.problems import COMPARISONS, Problem, as_json, nearest, read_problem

PROBLEM = "coding/problem"
PROMPTS = (PROBLEM, "coding/topic", "coding/earlier", "coding/repair")
MOST_EARLIER = 40  # titles that a setter is shown
TWICE, TRIVIAL, MUTANT = ("reference", "reference-again"), ("constant", "echo"), "mutant-"  # checks of a problem
MUTANT_SECONDS = 1.0  # a changed loop may never end
PARAMS = {"temperature": 0.9, "max_tokens": 16_384}
TEST = closed({"input": {"type": "string"}, "expected_output": {"type": "string"}})
SCHEMA = closed(
    {
        "title": {"type": "string"},
        "description": {"type": "string"},
        "function_name": {"type": "string"},
        "comparison": {"type": "string", "enum": list(COMPARISONS)},
        "test_cases": {"type": "array", "items": TEST},
        "hidden_test_cases": {"type": "array", "items": TEST},
        "evaluation_criteria": {"type": "array", "items": {"type": "string"}},
        "reference_solution": {"type": "string"},
    }
)

Void = str  # why there is no problem; "" where there is one


@dataclass(slots=True)
class Setters:
    """Whose turn it is to set a problem. In turn, a seat whose problem was void is asked once more, after the others.

    mode: as it is played, "in_turn" or "random". queue: seats to come, with whether they have failed before.
    """

    contest: Contest
    mode: str = ""
    queue: deque[tuple[str, bool]] = field(default_factory=deque)
    set_so_far: int = 0

    def __post_init__(self) -> None:
        config, pool = self.contest.config, self.contest.pool
        is_multiple = bool(pool) and config.cycles % len(pool) == 0
        self.mode = config.setters if config.setters != "auto" else "in_turn" if is_multiple else "random"
        if self.mode == "in_turn" and pool:
            self.queue.extend((pool[number % len(pool)], False) for number in range(config.cycles))

    @property
    def are_left(self) -> bool:
        return bool(self.queue) if self.mode == "in_turn" else self.set_so_far < self.contest.config.cycles

    def next(self, turn: int) -> tuple[str, bool] | None:
        """The setter of this cycle and whether it is its second try; None when all cycles were played."""
        if not self.are_left:
            return None
        if self.mode == "in_turn":
            return self.queue.popleft()
        self.set_so_far += 1
        return self.contest.cast.random(f"cycle/{turn}/setter").choice(self.contest.pool), False

    def failed(self, seat: str, *, is_second: bool) -> None:
        if self.mode == "in_turn" and not is_second:
            self.queue.append((seat, True))


def set_problem(round_: Round) -> Generator[Any, Any, Void]:
    """Ask, read, prove; one repair in all. Sets `round_.problem`, or returns why there is none."""
    ask = first = _ask(round_)
    wrong = ""
    for attempt in (1, 2):
        outcome: Outcome = yield ask
        if not outcome.ok:
            round_.contest.note_failure(round_.setter, outcome)
            return shortened(f"The setter gave no problem. {outcome.error}")
        wrong = yield from _prove(round_, outcome.text, ask.key)
        if not wrong or round_.contest.end:
            return ""
        if attempt == 1:
            yield round_.superseded(ask.key)
            ask = round_.repair(first, outcome.text, wrong, "problem")
    return shortened(wrong, 2_000)


def _ask(round_: Round) -> Ask:
    contest, key = round_.contest, f"{round_.base}/problem"
    config, token = contest.config, contest.cast.fence(key)
    titles = "\n".join(earlier.title for earlier in contest.earlier[-MOST_EARLIER:] if earlier.title)
    topic = fill("coding/topic", token=token, topic=fenced("topic", config.topic, token)) if config.topic else ""
    earlier = fill("coding/earlier", token=token, earlier=fenced("earlier", titles, token)) if titles else ""
    prompt = fill(
        PROBLEM,
        language=contest.language,
        shown=SHOWN_TESTS,
        hidden=LEAST_HIDDEN,
        most_hidden=MOST_HIDDEN,
        seconds=f"{config.test_seconds:g}",
        memory=config.test_megabytes,
        topic=f"\n{topic}\n" if topic else "",
        earlier=f"\n{earlier}\n" if earlier else "",
    )
    how = {"schema": SCHEMA, "params": PARAMS, "prompt_version": version(*PROMPTS)}
    return round_.ask(key, round_.setter, "problem", prompt, **how)


def _prove(round_: Round, answer: str, key: str) -> Generator[Any, Any, str]:
    """What is wrong with the answer; "" when it is a problem that can be set."""
    contest = round_.contest
    try:
        problem = read_problem(answer)
    except Unreadable as error:
        return str(error)
    if same := nearest(problem, contest.earlier):
        named = f", “{same.title}”" if same.title else ""
        return f"It repeats an earlier problem{named}: set another one."
    round_.problem = problem
    found = yield from _check(round_, problem, key)
    if contest.end:
        return ""  # nothing was found out, and what is recorded stands for good
    checks = [
        {
            "name": name,
            "passed": count_passed(one) if one.ok else None,
            "of": len(problem.tests),
            "complaint": one.found.get("complaint", ""),
        }
        for name, one in found.items()
    ]
    wrong = [*_about_reference(problem, *(found[name] for name in TWICE)), *_about_others(found)]
    parsed = {**problem.data, "checks": checks, "wrong": wrong}
    yield Record(
        f"{key}/parsed", MessageParsed(message=key, parsed=parsed, text=problem.text, flags=[]), turn=round_.turn
    )
    if wrong:
        round_.problem = None
    return "\n".join(wrong)


def _check(round_: Round, problem: Problem, key: str) -> Generator[Any, Any, dict[str, Outcome]]:
    """The reference runs twice; the trivial and the changed programs run until they fail. Outcomes by name."""
    contest, place = round_.contest, key.replace("/problem", "/check", 1)
    changed = mutants(problem, contest.cast.random(f"{key}/mutants"))
    others = trivial(problem) | {f"{MUTANT}{number}": code for number, code in enumerate(changed, 1)}
    brief = {"until_failure": True, "seconds": min(MUTANT_SECONDS, contest.config.test_seconds)}

    def step(name: str, code: str, **more: Any) -> Execute:
        return round_.execute(f"{place}/{name}", round_.setter, code, problem.tests, purpose="check", **more)

    steps = [step(name, problem.reference) for name in TWICE]
    steps += [step(name, code, **brief) for name, code in others.items()]
    outcomes: list[Outcome] = yield steps
    for number, outcome in enumerate(outcomes):
        contest.note_sandbox(outcome, is_needed=number < len(TWICE))
    return dict(zip((*TWICE, *others), outcomes, strict=True))


def _about_reference(problem: Problem, first: Outcome, again: Outcome) -> Iterator[str]:
    for outcome in (first, again):
        if not outcome.ok:
            yield f"The reference solution could not be run: {outcome.error}"
            return
    if complaint := first.found["complaint"]:
        yield f"The reference solution cannot be run: {complaint}"
        return
    for test, result in zip(problem.tests, first.found["results"], strict=True):
        if result["verdict"] != "passed":
            yield f"The reference solution does not pass test {test.name}: {_how(test.expected, result)}"
    if _results(problem, first) != _results(problem, again):
        yield "The reference solution gives other results when it is run again: it has to be deterministic."


def _about_others(found: Mapping[str, Outcome]) -> Iterator[str]:
    """A program that cannot be run at all proves nothing, and neither does the sandbox's own failure."""

    def passes(outcome: Outcome) -> bool:
        results: Sequence[Mapping[str, Any]] = outcome.found.get("results", ())
        return outcome.ok and bool(results) and count_passed(outcome) == len(results)

    if any(passes(found[name]) for name in TRIVIAL):
        yield "The tests are too weak: a program that knows nothing of the problem passes them all."
    changed = [outcome for name, outcome in found.items() if name.startswith(MUTANT)]
    ran = [outcome for outcome in changed if outcome.ok and not outcome.found["complaint"]]
    if ran and all(map(passes, ran)):
        yield "The tests are too weak: the reference solution passes them with errors put into it, too."


def _results(problem: Problem, outcome: Outcome) -> list[tuple[str, str]]:
    """What has to be the same twice: where values may differ in order or a little, whether they are right."""
    has_one_value = problem.comparison == COMPARISONS[0]
    results: Sequence[Mapping[str, Any]] = outcome.found["results"]
    return [(one["verdict"], as_json(one.get("value")) if has_one_value else "") for one in results]


def _how(expected: Any, result: Mapping[str, Any]) -> str:
    """What the reference did instead of passing, for whoever wrote it."""
    if result["verdict"] == "failed":
        return shortened(f"it gives {value_of(result)}, and {as_json(expected)} is expected", 300)
    words = {"timeout": "it takes too long", "memory": "it takes too much memory", "output_limit": "it prints too much"}
    return words.get(result["verdict"], shortened(result.get("error") or "it was not run", 300))


# --- programs that must not pass: tests that let them pass tell good solutions from bad ones no better ---

MOST_MUTANTS = 4
BOTH_WAYS = {"<": "<=", ">": ">=", "==": "!=", "+": "-", "and": "or", "True": "False", "min": "max", "any": "all"}
ONE_WAY = {"*": "+", "//": "*", "%": "//", "+=": "-=", "-=": "+=", "break": "pass", "continue": "pass"}
SWAPS = {**BOTH_WAYS, **{other: one for one, other in BOTH_WAYS.items()}, **ONE_WAY}


def trivial(problem: Problem) -> dict[str, str]:
    """Programs that know nothing of the problem, by name: one gives the commonest result, one its first argument."""
    commonest = Counter(as_json(test.expected) for test in problem.tests).most_common(1)[0][0]
    return {
        TRIVIAL[0]: f"def {problem.entry}(*given):\n    import json\n    return json.loads({commonest!r})\n",
        TRIVIAL[1]: f"def {problem.entry}(*given):\n    return given[0] if given else None\n",
    }


def mutants(problem: Problem, draw: random.Random) -> list[str]:
    """At most four of the reference's variants with one token changed; none where nothing can be changed."""
    changes = list(_changes(problem.reference))
    chosen = draw.sample(changes, min(MOST_MUTANTS, len(changes)))
    return [_changed(problem.reference, *change) for change in chosen]


def _changes(code: str) -> Iterator[tuple[int, int, int, str]]:
    """Line, first and last column, and what may stand there instead. Code that is no Python offers none."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            (line, start), (last, end), other = token.start, token.end, ""
            if token.type == tokenize.NUMBER and token.string.isdecimal():
                other = str(int(token.string) + 1) if len(token.string) < 10 else ""
            elif token.type in (tokenize.OP, tokenize.NAME):
                other = SWAPS.get(token.string, "")
            if line == last and other:
                yield line, start, end, other
    except (tokenize.TokenError, SyntaxError):
        return


def _changed(code: str, line: int, start: int, end: int, other: str) -> str:
    lines = code.split("\n")  # as the tokens count them: `splitlines` ends lines within texts, too
    text = lines[line - 1]
    lines[line - 1] = f"{text[:start]}{other}{text[end:]}"
    return "\n".join(lines)
