"""Contests of coding written row by row, as the engine leaves them: four models, with failures on demand.

contest = Contest(owner)
contest.cycle(votes)          a cycle that is rated; `votes` as {solver: {judge: overall}}, by the seats' numbers
contest.void_cycle("why")     one whose setter gave no problem
"""

from datetime import timedelta
from typing import Any

from experiments.api.serializers import JudgmentSerializer
from experiments.models import Cycle, Execution, Judgment
from tests.experiments.contests import DIMENSIONS, HIDDEN, REFERENCE, SHOWN, WRONG
from tests.experiments.reports.records import CASTS, Record

SEATS = CASTS["coding"]
DESCRIPTION = "Given a list of whole numbers, return the largest less the smallest; 0 for an empty list."
UNREADABLE = "I would rather say it in prose."
NO_VOTE = "Its judgment could not be read: scores is missing, or is no object."
NO_SOLUTION = "It gave no solution. The provider is overloaded."
TESTS = [{"name": f"shown-{n}", "arguments": [given], "expected": right} for n, (given, right) in enumerate(SHOWN, 1)]
TESTS += [
    {"name": f"hidden-{n}", "arguments": [given], "expected": right} for n, (given, right) in enumerate(HIDDEN, 1)
]
Votes = dict[int, dict[int, float]]
LEVELS = (8.0, 6.0, 5.0, 3.0)  # what each seat's solutions are worth, when nothing else is said


def votes_of(*missing: tuple[int, int], levels: tuple[float, ...] = LEVELS, seats: int = 4) -> Votes:
    """Everybody's vote on everybody else's solution but the missing ones, as (solver, judge). Judge 4 is severe."""
    return {
        solver: {
            judge: levels[solver - 1] - (judge == 4)
            for judge in range(1, seats + 1)
            if judge != solver and (solver, judge) not in missing
        }
        for solver in range(1, seats + 1)
    }


class Contest(Record):
    """Cycles under the keys that their workflow gives them, a minute apart. is_bare: without what was said and run."""

    def __init__(self, owner: Any, *, is_bare: bool = False, **run: Any) -> None:
        super().__init__(owner, "coding", **{"title": "A contest", "stop_reason": "completed", **run})
        self.turns, self.is_bare = 0, is_bare

    def cycle(
        self,
        votes: Votes | None = None,
        *,
        setter: int | None = None,
        passed: dict[int, int] | None = None,
        silent: tuple[int, ...] = (),
        quorum: int = 1,
        title: str = "",
        seats: int = 4,
    ) -> Cycle:
        """passed: how many of the ten tests each solution passes, all where nothing is said. silent: who gave none."""
        self.turns += 1
        turn, coders = self.turns, SEATS[:seats]
        given = {solver: dict(row) for solver, row in (votes_of(seats=seats) if votes is None else votes).items()}
        given |= {number: {} for number in silent}
        seat = coders[(turn - 1 if setter is None else setter - 1) % seats]
        title = title or f"Spread of readings {turn}"
        if not self.is_bare:
            self._played(turn, seat, coders, given, passed or {}, title, silent)
        return self._rated(turn, seat, coders, given, passed or {}, quorum, title, silent)

    def _played(self, turn: int, seat: str, coders: tuple[str, ...], given: Votes, passed: dict[int, int], title: str,
                silent: tuple[int, ...]) -> None:  # fmt: skip
        self._begun(turn, seat, coders)
        self._problem(turn, seat, title)
        for number, solver in enumerate(coders, 1):
            if number in silent:
                self.failed(f"cycle/{turn}/solution/{solver}", solver, turn, purpose="solution")
            else:
                self._solution(turn, solver, passed.get(number, len(TESTS)))
                for judge in range(1, len(coders) + 1):
                    if judge != number:
                        self._judgment(turn, solver, coders[judge - 1], given[number].get(judge))

    def void_cycle(self, reason: str = "The setter gave no problem. Too many requests.", setter: int = 1) -> Cycle:
        self.turns += 1
        turn, seat = self.turns, SEATS[setter - 1]
        self._begun(turn, seat, SEATS)
        self.asked(f"cycle/{turn}/problem", seat, turn, UNREADABLE, purpose="problem")
        data = {"turn": turn, "setter": seat, "reason": reason}
        self.step(f"cycle/{turn}/void", purpose="cycle_void", turn=turn, data=data)
        return self._row(turn, seat, SEATS, state=Cycle.State.VOID, reason=reason)

    def _begun(self, turn: int, setter: str, coders: tuple[str, ...]) -> None:
        self.step(f"cycle/{turn}", purpose="turn_started", turn=turn, data={"turn": turn})
        data = {"turn": turn, "setter": setter, "coders": list(coders)}
        self.step(f"cycle/{turn}/begun", purpose="cycle_begun", turn=turn, data=data)

    def _problem(self, turn: int, seat: str, title: str) -> None:
        tests = {"shown": TESTS[: len(SHOWN)], "hidden": TESTS[len(SHOWN) :]}
        checks = [{"name": "reference", "passed": len(TESTS), "of": len(TESTS), "complaint": ""}]
        parsed = {"kind": "problem", "title": title, "description": DESCRIPTION, "entry": "spread", **tests,
                  "comparison": "exact", "criteria": ["It handles the empty list."], "reference": REFERENCE,
                  "checks": checks, "wrong": []}  # fmt: skip
        text = f"# {title}\n\n{DESCRIPTION}"
        self.asked(f"cycle/{turn}/problem", seat, turn, '{"title": "…"}', purpose="problem", text=text, parsed=parsed)
        self.step(f"cycle/{turn}/problem/parsed", purpose="message_parsed", turn=turn)
        data = {"turn": turn, "setter": seat, "title": title, "fingerprint": [1, 2, 3]}
        self.step(f"cycle/{turn}/set", purpose="problem_set", turn=turn, data=data)
        self._execution(turn, seat, f"cycle/{turn}/check/reference", "check", REFERENCE, len(TESTS))

    def _solution(self, turn: int, seat: str, passed: int) -> None:
        code = REFERENCE if passed == len(TESTS) else WRONG
        parsed = {"kind": "solution", "code": code, "explanation": f"One pass, says {seat}."}
        text = f"```python\n{code}\n```\n\nOne pass, says {seat}."
        key, raw = f"cycle/{turn}/solution/{seat}", '{"solution_code": "…"}'
        self.asked(key, seat, turn, raw, purpose="solution", text=text, parsed=parsed)
        self._execution(turn, seat, f"cycle/{turn}/execution/{seat}", "execution", code, passed)

    def _execution(self, turn: int, seat: str, key: str, purpose: str, code: str, passed: int) -> Execution:
        step = self.step(key, "execute", purpose=purpose, seat=seat, turn=turn)
        results = [_result(test, n < passed) for n, test in enumerate(TESTS)]
        return Execution.objects.create(
            run=self.run, step=step, turn=turn, seat=seat, state=Execution.State.DONE, language="python", code=code,
            entry="spread", comparison="exact", tests=TESTS, seconds_limit=5, memory_limit=256 << 20, results=results,
            backend="namespaces", layers=["user namespace"], seconds=0.4, ended=self.now,
        )  # fmt: skip

    def _judgment(self, turn: int, solver: str, judge: str, overall: float | None) -> Judgment:
        key = f"cycle/{turn}/judge/{judge}/of/{solver}"
        asked = self.step(key, "ask", purpose="judge", seat=judge, turn=turn)
        call = self.call(asked, text=UNREADABLE if overall is None else f'{{"overall_score": {overall}}}')
        scores = None if overall is None else {**dict.fromkeys(DIMENSIONS, overall), "overall": overall}
        step = self.step(f"{key}/vote", purpose="solution_judged", turn=turn)
        made = Judgment.objects.create(
            run=self.run, step=step, call=call, turn=turn, subject=solver, judge=call.model.label, judge_seat=judge,
            scores=scores, unscored_reason=NO_VOTE if overall is None else "",
            rationale="" if overall is None else f"Clear, says {judge}.",
        )  # fmt: skip
        step.data = {"key": key, "turn": turn, "judgment": dict(JudgmentSerializer(made).data)}
        step.save(update_fields=["data"])
        return made

    def _rated(self, turn: int, setter: str, coders: tuple[str, ...], given: Votes,
               passed: dict[int, int], quorum: int, title: str, without: tuple[int, ...]) -> Cycle:  # fmt: skip
        votes = {coders[s - 1]: {coders[j - 1]: vote for j, vote in row.items()} for s, row in given.items()}
        means = {solver: sum(row.values()) / len(row) for solver, row in votes.items() if len(row) >= quorum}
        silent = [coders[number - 1] for number in without]
        unrated = {
            seat: NO_SOLUTION if seat in silent else f"{len(votes[seat])} of at least {quorum} votes were given."
            for seat in coders
            if seat not in means
        }
        shares = {seat: passed.get(n, 10) / 10 for n, seat in enumerate(coders, 1) if seat not in silent}
        found = {"turn": turn, "setter": setter, "coders": list(coders), "quorum": quorum, "votes": votes,
                 "means": means, "overall": sum(means.values()) / len(means) if means else None, "passed": shares,
                 "unrated": unrated}  # fmt: skip
        if not self.is_bare:
            self.step(f"cycle/{turn}/rated", purpose="cycle_rated", turn=turn, data=found)
            self.step(f"cycle/{turn}/completed", purpose="turn_completed", turn=turn, data={"turn": turn})
        return self._row(turn, setter, coders, state=Cycle.State.RATED, found=found, title=title, fingerprint=[1, 2, 3])

    def _row(self, turn: int, setter: str, coders: tuple[str, ...], **fields: Any) -> Cycle:
        seated = [[seat, self.models[seat].slug] for seat in coders]
        ended = self.now + timedelta(minutes=turn)
        return Cycle.objects.create(run=self.run, turn=turn, setter=setter, contestants=seated, ended=ended, **fields)


def _result(test: dict[str, Any], is_right: bool) -> dict[str, Any]:
    verdict = {"verdict": "passed", "value": test["expected"]} if is_right else {"verdict": "failed", "value": -1}
    same = {"has_value": True, "error": "", "stdout": "", "stderr": "", "seconds": 0.04, "peak_memory": 9_000_000}
    return {"name": test["name"], **verdict, **same}


def contest(owner: Any, cycles: int = 3, *, is_bare: bool = False, **run: Any) -> Contest:
    """A contest of so many cycles, in which everybody voted; each a little different from the others."""
    made = Contest(owner, is_bare=is_bare, **run)
    for number in range(cycles):
        levels = tuple(level + ((number + place) % 3 - 1) * 1.5 for place, level in enumerate(LEVELS))
        made.cycle(votes_of(levels=levels), passed={4: 3 + number % 5, 3: 8, 2: 10 - number % 2})
    return made


def flawed(owner: Any) -> Contest:
    """Four cycles: one as it should be, a judge without a vote, a solver without a solution, one without a problem."""
    made = contest(owner, 1)
    made.cycle(votes_of((1, 2)), passed={4: 3}, title="Widest | gap")
    made.cycle(silent=(3,))
    made.void_cycle("It repeats an earlier problem.")
    return made
