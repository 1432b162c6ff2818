"""MatrixArena: its log of cycles, one line each, and the folder that each cycle leaves.

A vote that failed is not a vote: neither the 5.0 of early versions nor the 0.0 of a solver whom nobody judged is taken
for a score. Elo numbers of the file are kept beside the run, and never mixed with ours.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from django.utils.translation import gettext as _

from experiments.library.imports.drafts import Draft
from experiments.library.imports.formats import RunFormat
from experiments.library.imports.values import (
    Data,
    Taken,
    Unreadable,
    line,
    listed,
    mapping,
    mappings,
    moment,
    number,
    rest,
    slug,
    text,
    whole,
)
from experiments.models.imports import ImportSource
from experiments.workflows.coding.config import LEAST_CODERS, MOST_CODERS, coder
from experiments.workflows.coding.judging import DIMENSIONS, OVERALL_DIFFERS, ROUNDING

VERDICTS = {"pass": "passed", "fail": "failed", "error": "error", "skip": "not_run", "timeout": "timeout"}
NO_VOTE = "No vote is in the file."
ZERO = "0.0 in the file: it stands for no vote, too."
OF_CYCLE = (
    *("cycle_num", "timestamp", "generator", "solvers", "judges_pool", "problem_title", "average_scores"),
    "overall_average",
)
OF_JUDGMENT = ("judge", "judge_id", "judge_model", "model", "scores", "overall_score", "feedback", "error")
TOLD_OF_A_VOTE = ("id", "subject", "judge_seat", "judge", "scores", "rationale", "flags", "unscored_reason")
OTHERWISE: Data = {"flags": [], "unscored_reason": ""}
OF_SOLUTION = ("solution_code", "code", "explanation", "model", "solver", "error", "_raw_output", "raw_output")
Folder = Mapping[str, Any]


def is_cycle(value: Any) -> bool:
    """Whether it is a line of the log, or a cycle's summary."""
    said = mapping(value)
    return {"generator", "solvers"} <= set(said) and bool({"cycle_num", "average_scores", "judges_pool"} & set(said))


def read(value: Any, place: str = "", folder: Folder | None = None) -> Taken:
    """folder: the other files of the cycle by their names, as values. Raises Unreadable."""
    said = mapping(value)
    if not is_cycle(said):
        raise Unreadable(_("This is not a cycle: generator and solvers are missing."), place)
    return _Cycle(said, folder or {}, place).taken()


class _Cycle:
    def __init__(self, said: Mapping[str, Any], folder: Folder, place: str) -> None:
        self.said, self.folder, self.place = said, folder, place
        told = folder.get("generator_problem.json")
        self.problem = mapping(mapping(told).get("problem")) or mapping(told)
        names = [slug(name) for name in (*listed(said.get("solvers")), *listed(said.get("judges_pool")))]
        models = list(dict.fromkeys([*names, slug(said.get("generator"))]))
        if not LEAST_CODERS <= len(models) <= MOST_CODERS:
            message = _("%(count)s models take part; a contest has %(least)s to %(most)s here.")
            raise Unreadable(message % {"count": len(models), "least": LEAST_CODERS, "most": MOST_CODERS}, place)
        self.seats = {model: coder(number) for number, model in enumerate(models, 1)}
        self.title = line(said.get("problem_title")) or line(self.problem.get("title")) or "MatrixArena"
        self.draft = Draft("coding", self.title, {"cycles": 1, "setters": "random", "health_check": False})
        for model, seat in self.seats.items():
            self.draft.seat(seat, model)
        self.setter = self.seats[slug(said.get("generator"))]
        self.codes: dict[str, str] = {}
        self.votes: dict[str, dict[str, float]] = {seat: {} for seat in self.seats.values()}
        self.passed: dict[str, float] = {}

    def taken(self) -> Taken:
        draft, at = self.draft, moment(self.said.get("timestamp"))
        draft.run |= {"ended": at} if at else {}
        draft.step("cycle/1", "turn_started", 1, data={"turn": 1})
        begun = {"turn": 1, "setter": self.setter, "coders": list(self.seats.values())}
        draft.step("cycle/1/begun", "cycle_begun", 1, data=begun)
        if self.problem:
            self._set_problem()
        for seat, solution in self._files("solver"):
            self._solve(seat, mapping(solution))
        for seat, execution in self._files("execution"):
            self._execute(seat, mapping(execution))
        for seat, judgments in self._files("judgments"):
            self._judge(seat, judgments)
        self._rate(at)
        draft.step("cycle/1/completed", "turn_completed", 1, data={"turn": 1})
        if kept := rest(self.said, OF_CYCLE):
            draft.kept["cycle"] = kept
        return Taken(self.place, draft.document(), tuple(draft.notes), draft.kept)

    def _files(self, kind: str) -> Iterator[tuple[str, Any]]:
        """(seat, content) of solver_*.json and so on, in the order of the seats; models as the original names files."""
        for model, seat in self.seats.items():
            name = f"{kind}_" + re.sub(r"[^\w-]", "_", model)[:60]
            found = [name for name in (f"{name}.json", name) if name in self.folder]
            if found:
                yield seat, self.folder[found[0]]

    def _set_problem(self) -> None:
        problem = self.problem
        tests = [
            {"name": f"test-{place}", "arguments": [one.get("input")], "expected": one.get("expected_output")}
            for place, one in enumerate(mappings(problem.get("test_cases"))[:100], 1)
        ]
        criteria = problem.get("evaluation_criteria")
        words = [criteria] if isinstance(criteria, str) else [text(one) for one in listed(criteria)[:100]]
        description = text(problem.get("description"))
        parsed = {"kind": "problem", "title": self.title, "description": description, "shown": tests, "criteria": words}
        said = f"# {self.title}\n\n{description}"
        key = self.draft.said("cycle/1/problem", 1, self.setter, said, purpose="problem", parsed=parsed)
        self.draft.parsed(key, 1)
        self.draft.step("cycle/1/set", "problem_set", 1, data={"turn": 1, "setter": self.setter, "title": self.title})
        known = ("title", "description", "test_cases", "evaluation_criteria", "problem", "_raw_output")
        if kept := rest(problem, known):
            self.draft.kept["problem"] = kept

    def _solve(self, seat: str, said: Mapping[str, Any]) -> None:
        inner = mapping(said.get("solution"))
        code = text(said.get("solution_code")) or text(inner.get("solution_code")) or text(said.get("code"))
        explanation = text(said.get("explanation")) or text(inner.get("explanation"))
        key = f"cycle/1/solution/{seat}"
        if not code.strip():
            why = text(said.get("error")) or explanation or "There is no code in the file."
            self.draft.failed(key, 1, seat, why, "solution")
            return
        self.codes[seat] = code
        raw = text(said.get("_raw_output")) or text(said.get("raw_output"))
        parsed = {"kind": "solution", "code": code, "explanation": explanation}
        written = raw or f"```python\n{code}\n```\n\n{explanation}"
        self.draft.parsed(self.draft.said(key, 1, seat, written, purpose="solution", parsed=parsed), 1)
        if kept := rest(said, (*OF_SOLUTION, "solution")):
            self.draft.kept.setdefault("solutions", {})[seat] = kept

    def _execute(self, seat: str, said: Mapping[str, Any]) -> None:
        """It ran without walls there, and could pass by printing that it did: what it says is kept as what it says."""
        told = mapping(said.get("result")) or said
        tests, results = [], []
        for place, one in enumerate(mappings(told.get("tests"))[:100], 1):
            name, value = f"test-{place}", one.get("actual")
            tests.append({"name": name, "arguments": [one.get("input")], "expected": one.get("expected")})
            verdict = VERDICTS.get(text(one.get("status")).lower(), "error")
            found = {"value": value, "has_value": value is not None, "error": text(one.get("error"))}
            results.append({"name": name, "verdict": verdict, **found})
        status = text(told.get("status"))
        row = {
            "id": self.draft.id(),
            "key": self.draft.step(f"cycle/1/run/{seat}", "execution", 1, "execute", seat=seat),
            "turn": 1,
            "seat": seat,
            "code": self.codes.get(seat, ""),
            "tests": tests,
            "results": results,
            "is_unsafe": True,
            "complaint": "" if status == "success" and results else text(told.get("summary")) or status,
        }
        self.draft.rows["executions"].append(row)
        if results:
            self.passed[seat] = sum(one["verdict"] == "passed" for one in results) / len(results)
        elif status == "success":
            self.draft.note(
                _("Programs without a single test count as not tested, though the original counts them as passed.")
            )

    def _judge(self, solver: str, told: Any) -> None:
        judged = set()
        for judge_model, said in _judgments(told):
            judge = self.seats.get(slug(judge_model))
            if judge is None or judge == solver:
                self.draft.note(_("Votes on one’s own solution and votes of non-participants were left out."))
                self.draft.kept.setdefault("votes", []).append({"solver": solver, "judge": judge_model, **said})
                continue
            if judge in judged:
                continue
            judged.add(judge)
            scores, reason, flags = _scores(said)
            if reason and number(said.get("overall_score"), 0, 10) is not None:
                self.draft.note(_("Scores that replace a failed judgment were left out."))
            vote = {"subject": solver, "judge": self.draft.cast[judge], "judge_seat": judge, "scores": scores,
                    "unscored_reason": reason, "rationale": text(said.get("feedback")), "flags": flags}  # fmt: skip
            _vote(self.draft, 1, vote)
            if scores is not None:
                self.votes[solver][judge] = scores["overall"]

    def _rate(self, at: str | None) -> None:
        """Means of the votes; of the log alone those that it tells, but for zeros, which may stand for no vote."""
        averages = {slug(name): value for name, value in mapping(self.said.get("average_scores")).items()}
        means: dict[str, float] = {}
        unrated: dict[str, str] = {}
        for model, seat in self.seats.items():
            told = number(averages.get(model), 0, 10)
            if given := self.votes[seat]:
                means[seat] = fmean(given.values())
            elif told and not self.draft.rows["judgments"]:
                means[seat] = told
            else:
                unrated[seat] = NO_VOTE if told != 0 else ZERO
        if ZERO in unrated.values():
            self.draft.note(_("Averages of 0.0, which the original writes without judgments, were left out."))
        votes = {seat: row for seat, row in self.votes.items() if row}
        overall = fmean(means.values()) if means else None
        same: Data = {"turn": 1, "setter": self.setter, "quorum": 1, "votes": votes, "means": means, "overall": overall}
        same |= {"passed": self.passed, "unrated": unrated}
        self.draft.step("cycle/1/rated", "cycle_rated", 1, data={**same, "coders": list(self.seats.values())})
        contestants = [{"seat": seat, "model": model} for model, seat in self.seats.items()]
        cycle = {**same, "title": self.title, "contestants": contestants, "state": "rated"}
        self.draft.rows["cycles"].append(cycle | ({"ended": at, "began": at} if at else {}))


def contest(draft: Draft, judgments: Sequence[Data]) -> None:
    """Steps for the cycles and messages of a draft, and for these judgments: each vote has one of its own, and each
    cycle its beginning and its end.
    """
    said, given = _by_turn(draft.rows["messages"]), _by_turn(judgments)
    for cycle in draft.rows["cycles"]:
        turn, setter = whole(cycle.get("turn")) or 0, text(cycle.get("setter"))
        seats = [text(one.get("seat")) for one in mappings(cycle.get("contestants"))]
        draft.step(f"cycle/{turn}", "turn_started", turn, data={"turn": turn})
        draft.step(f"cycle/{turn}/begun", "cycle_begun", turn, data={"turn": turn, "setter": setter, "coders": seats})
        for one in said.pop(turn, ()):
            purpose, seat = text(one.get("purpose")), text(one.get("seat"))
            about = {"seat": seat, "message": one.get("id")}
            key = draft.step(f"cycle/{turn}/{purpose}/{seat}", purpose, turn, "ask", **about)
            if one.get("parsed"):
                draft.parsed(key, turn)
        for one in given.pop(turn, ()):
            _vote(draft, turn, one)
        if cycle.get("state") == "rated":
            told = ("setter", "quorum", "votes", "means", "overall", "passed", "unrated")
            found = {"turn": turn, "coders": seats, **{name: cycle.get(name) for name in told}}
            draft.step(f"cycle/{turn}/rated", "cycle_rated", turn, data=found)
        draft.step(f"cycle/{turn}/completed", "turn_completed", turn, data={"turn": turn})


def _vote(draft: Draft, turn: int, judgment: Data) -> None:
    """A contestant's judgment of a solution."""
    key = f"cycle/{turn}/judge/{judgment['judge_seat']}/of/{judgment['subject']}"
    row = draft.judgment(turn, judgment)
    told = {name: row.get(name, OTHERWISE.get(name)) for name in TOLD_OF_A_VOTE}
    data = {"key": key, "turn": turn, "judgment": told}
    draft.step(f"{key}/vote", "solution_judged", turn, judgments=[row["id"]], data=data)


def _by_turn(rows: Sequence[Data]) -> dict[int, list[Data]]:
    found: dict[int, list[Data]] = {}
    for one in rows:
        found.setdefault(whole(one.get("turn")) or 0, []).append(one)
    return found


def _judgments(told: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(judge, what it said) of a list, or of an object with one entry per judge."""
    inner = told.get("judgments", told.get("judges")) if isinstance(told, Mapping) else told
    if isinstance(inner, list):
        for said in mappings(inner):
            name = next((text(said.get(key)) for key in OF_JUDGMENT[:4] if text(said.get(key))), "")
            yield name, said
    else:
        source = inner if isinstance(inner, Mapping) else mapping(told)
        yield from ((name, said) for name, said in source.items() if isinstance(said, Mapping))


def _scores(said: Mapping[str, Any]) -> tuple[dict[str, float] | None, str, list[str]]:
    """The dimensions and their mean; else the overall alone; else nothing, with the reason."""
    if error := text(said.get("error")):
        return None, f"It failed there: {error}"[:500], []
    told = mapping(said.get("scores"))
    scores = {name: score for name in DIMENSIONS if (score := number(told.get(name), 0, 10)) is not None}
    overall = number(said.get("overall_score"), 0, 10)
    if len(scores) == len(DIMENSIONS):
        mean = fmean(scores.values())
        differs = overall is None or abs(overall - mean) > ROUNDING
        return {**scores, "overall": mean}, "", [OVERALL_DIFFERS] if differs else []
    if overall is None:
        return None, "Its score is missing, or no number from 0 to 10.", []
    return {**scores, "overall": overall}, "", []


def _number(value: Any) -> tuple[str, str]:
    said = mapping(value)
    return str(said.get("cycle_num")), str(said.get("problem_title"))


FORMAT = RunFormat(ImportSource.MATRIX, 3, is_cycle, read, folder="summary.json", read_folder=read, number=_number)
