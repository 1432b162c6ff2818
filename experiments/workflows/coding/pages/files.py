"""A contest as files: a zip in the layout of MatrixArena's data folder, made while it is sent, and a table of votes."""

import hashlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from experiments.models import Call, Cycle, Judgment, Run
from experiments.runs import zipping
from experiments.runs.reports.csv_export import Measured
from experiments.runs.reports.document import each, encoded
from experiments.workflows.coding.pages import ratings
from experiments.workflows.coding.pages.cycles import SCORES, Contents, contents, passed
from experiments.workflows.coding.pages.rated import Moment

LONGEST_NAME = 60
DIGITS = 2  # of a rating
ANSWERS_AT_ONCE = 50  # that are in memory: one may have tens of thousands of characters
ANSWERS = ("problem", "solution", "judge", "repair")  # purposes of calls whose raw text is kept
STATUSES = {"passed": "pass", "failed": "fail", "not_run": "skip"}  # of a test; the others are called as they are

Json = dict[str, Any]


def zipped(run: Run) -> Iterator[bytes]:
    """Everything that the run's cycles left. Ratings are those of this run's cycles alone, from the first one on."""
    return zipping.zipped(partial(_written, run))


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Models to names of files: letters, digits, _ and - alone, at most 60; with a mark where two would be alike."""
    plain = {name: re.sub(r"[^A-Za-z0-9_-]", "_", name) for name in names}
    alike = Counter(short[:LONGEST_NAME].casefold() for short in plain.values())

    def named(name: str, short: str) -> str:
        if len(short) <= LONGEST_NAME and alike[short.casefold()] == 1:
            return short
        mark = hashlib.sha256(name.encode()).hexdigest()[:8]
        return f"{short[: LONGEST_NAME - 9]}_{mark}"

    return {name: named(name, short) for name, short in plain.items()}


def _written(run: Run, archive: zipfile.ZipFile) -> Iterator[None]:
    history = {moment.turn: moment for moment in ratings.history_of(run)}
    rows = list(run.cycles.order_by("turn"))
    files = slugs(sorted({slug for row in rows for _seat, slug in row.contestants}))
    lines = [encoded(_battle(row, history[row.turn])) + b"\n" for row in rows if row.turn in history]
    archive.writestr(zipping.entry("data/battles.jsonl", zipping.EARLIEST), b"".join(lines))
    latest = max(history.values(), key=lambda moment: moment.number, default=None)
    board = sorted(latest.compatible.items(), key=lambda item: (-item[1], item[0])) if latest else []
    leaderboard = [{"rank": n, "model": name, "elo": round(elo, DIGITS)} for n, (name, elo) in enumerate(board, 1)]
    _write(archive, "data/leaderboard.json", leaderboard, zipping.EARLIEST)
    yield
    for row in rows:
        row.run = run
        yield from _cycle(archive, row, history.get(row.turn), files)


def _cycle(archive: zipfile.ZipFile, row: Cycle, after: Moment | None, files: Mapping[str, str]) -> Iterator[None]:
    folder = f"data/cycles/{row.began.astimezone(UTC):%Y%m%d_%H%M%S}_c{row.turn}"
    record = contents(row)
    write = partial(_write, archive, at=row.began)
    write(f"{folder}/summary.json", {**_battle(row, after), **_standing(row)})
    write(f"{folder}/generator_problem.json", _problem(record))
    for seat, slug in row.contestants if row.state != Cycle.State.VOID else ():
        name = files[slug]
        write(f"{folder}/solver_{name}.json", {"model": slug, **_solution(record, seat)})
        write(f"{folder}/execution_{name}.json", {"model": slug, **_execution(record, seat)})
        write(f"{folder}/judgments_{name}.json", {"model": slug, **_judgments(record, seat)})
        yield
    yield from _raw(archive, row, f"{folder}/raw", {seat: files[slug] for seat, slug in row.contestants})


def _write(archive: zipfile.ZipFile, name: str, content: Any, at: datetime) -> None:
    archive.writestr(zipping.entry(name, at), json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False))


def _battle(row: Cycle, after: Moment | None) -> Json:
    """MatrixArena's line of a cycle. What does not count, or has no score, is null; `unrated` and `counts` say why."""
    models, means = dict(row.contestants), row.found.get("means", {})
    board = after.compatible if after else {}
    return {
        "cycle_num": row.turn,
        "timestamp": int((row.ended or row.began).timestamp()),
        "generator": models.get(row.setter, row.setter),
        "solvers": list(models.values()),
        "judges_pool": list(models.values()),
        "problem_title": row.title,
        "average_scores": {slug: means.get(seat) for seat, slug in models.items()},
        "overall_average": row.found.get("overall"),
        "elo_after": {name: round(board[name], DIGITS) for name in sorted(board)} if after else None,
    }


def _standing(row: Cycle) -> Json:
    models, found = dict(row.contestants), row.found

    def by_model(values: Mapping[str, Any]) -> Json:
        return {models.get(seat, seat): value for seat, value in values.items()}

    return {
        "run": str(row.run_id),
        "state": row.state,
        "counts": _counts(row),
        "reason": row.reason,
        "void_reason": row.void_reason,
        "quorum": found.get("quorum"),
        "votes": {solver: by_model(votes) for solver, votes in by_model(found.get("votes", {})).items()},
        "tests_passed": by_model(found.get("passed", {})),
        "unrated": by_model(found.get("unrated", {})),
    }


def _counts(row: Cycle) -> bool:
    return row.state == Cycle.State.RATED and row.voided is None


def _problem(record: Contents) -> Json:
    problem = record.set_problem
    if problem is None:
        return {"title": None, "error": record.cycle.reason or "The cycle has no problem."}

    def tests(kind: str) -> list[Json]:
        """Input and output as text, as the setter wrote them."""
        return [
            {
                "name": test.get("name"),
                "input": json.dumps(test.get("arguments"), ensure_ascii=False),
                "expected_output": json.dumps(test.get("expected")),
            }
            for test in problem.get(kind, ())
        ]

    return {
        "title": problem.get("title"),
        "description": problem.get("description"),
        "function_name": problem.get("entry"),
        "comparison": problem.get("comparison"),
        "test_cases": tests("shown"),
        "hidden_test_cases": tests("hidden"),
        "evaluation_criteria": problem.get("criteria"),
        "reference_solution": problem.get("reference"),
        "checks": problem.get("checks"),
    }


def _solution(record: Contents, seat: str) -> Json:
    solution = record.solution(seat)
    if solution is None:
        why = record.unrated(seat) or "Nothing yet."
        return {"seat": seat, "solution_code": None, "explanation": None, "error": why}
    said = {"solution_code": solution.get("code"), "explanation": solution.get("explanation")}
    return {"seat": seat, **said, "error": None, "flags": record.solutions[seat].flags}


def _execution(record: Contents, seat: str) -> Json:
    ran = record.executions.get(seat)
    count = passed(ran)
    if ran is None or count is None:
        why = ran.error if ran else "There was nothing to run."
        return {"status": "not_run", "summary": why, "passed": None, "failed": None, "skipped": None, "tests": []}
    given = {test.get("name"): test for test in ran.tests}
    tests = []
    for result in ran.results or ():
        verdict, test = str(result["verdict"]), given.get(result["name"], {})
        found = {
            "test": result["name"],
            "status": STATUSES.get(verdict, verdict),
            "input": test.get("arguments"),
            "expected": test.get("expected"),
            "actual": result.get("value"),
        }
        same = ("error", "stdout", "stderr", "seconds", "peak_memory")
        tests.append({**found, **{name: result.get(name) for name in same}})
    skipped = sum(test["status"] == "skip" for test in tests)
    return {
        "status": "syntax_error" if ran.complaint else "success",
        "summary": ran.complaint or f"{count} of {len(tests)} tests passed",
        "passed": count,
        "failed": len(tests) - count - skipped,
        "skipped": skipped,
        "tests": tests,
        "backend": ran.backend,
        "is_unsafe": ran.is_unsafe,
        "seconds": ran.seconds,
    }


def _judgments(record: Contents, seat: str) -> Json:
    """Judges who gave no vote, or none that could be read, are there with null and the reason."""
    models = dict(record.cycle.contestants)
    judgments = {}
    for one in record.judgments.get(seat, ()):
        scores = dict(one.scores) if one.scores else None
        judgments[models.get(one.judge_seat, one.judge_seat)] = {
            "scores": scores,
            "overall_score": scores.pop("overall", None) if scores else None,
            "feedback": one.rationale,
            "flags": one.flags,
            "error": one.unscored_reason or None,
        }
    return {"average": record.mean(seat), "unrated": record.unrated(seat) or None, "judgments": judgments}


def _raw(archive: zipfile.ZipFile, row: Cycle, folder: str, files: Mapping[str, str]) -> Iterator[None]:
    """Every answer as it came, the unreadable ones too: those before the last have a number."""
    calls = Call.objects.filter(run=row.run_id, step__turn=row.turn, step__purpose__in=ANSWERS).exclude(text="")
    counts = Counter(_raw_name(key, files) for key in calls.values_list("step__key", flat=True))
    seen = Counter[str]()
    for call in each(calls.order_by("id").select_related("step").only("step__key", "text"), ANSWERS_AT_ONCE):
        name = _raw_name(call.step.key, files)
        seen[name] += 1
        number = "" if seen[name] == counts[name] else f"_attempt_{seen[name]}"
        archive.writestr(zipping.entry(f"{folder}/{name}{number}.txt", row.began), call.text)
        yield


def _raw_name(key: str, files: Mapping[str, str]) -> str:
    """cycle/3/judge/coder-1/of/coder-2/repair is judge_J_for_S."""

    def file(seat: str) -> str:
        return files.get(seat, slugs([seat])[seat])

    match key.removesuffix("/repair").split("/"):
        case ["cycle", _turn, "problem"]:
            return "generator"
        case ["cycle", _turn, "solution", seat]:
            return f"solver_{file(seat)}"
        case ["cycle", _turn, "judge", judge, "of", solver]:
            return f"judge_{file(judge)}_for_{file(solver)}"
        case _:
            return f"other_{file(key)}"


# --- a table with one row per vote, with the solution that it is on and what the sandbox saw of it ---

COLUMNS = (
    *("run", "cycle", "state", "reason", "counts", "void_reason", "title", "setter", "setter_model"),
    *("solver", "solver_model", "is_setter", "mean", "unrated", "tests_passed", "tests", "complaint", "is_unsafe"),
    *("judge", "judge_model", *SCORES, "unscored_reason", "flags", "feedback", "code", "explanation_text", "ended"),
)


def table(run: Run) -> Iterator[list[Any]]:
    """The head, then the rows. A solution without judgments, a cycle without a problem, and what an instrument found of
    more than one solution have a row of their own.

    Cells are empty where something is missing: a missing vote is never a zero.
    """
    measured = Measured(run)
    columns = (*COLUMNS, *measured.columns)
    yield list(columns)
    for row in each(run.cycles.order_by("turn"), at_once=1):
        row.run = run
        for cells in _cells(contents(row), measured):
            yield [cells.get(name) for name in columns]
    for found in measured.left():
        about = {"run": run.pk, "cycle": found["turn"], "solver": found["seat"]}
        yield [(found | about).get(name) for name in columns]


def _cells(record: Contents, measured: Measured) -> Iterator[Json]:
    row, models = record.cycle, dict(record.cycle.contestants)
    same = {name: getattr(row, name) for name in ("state", "reason", "void_reason", "title", "setter", "ended")}
    about = {"run": row.run_id, "cycle": row.turn, "counts": _counts(row), "setter_model": models.get(row.setter)}
    about |= same
    if record.set_problem is None:
        yield about
        return
    for seat in record.seats:
        ran, solution = record.executions.get(seat), record.solution(seat)
        solver = about | {
            "solver": seat,
            "solver_model": models.get(seat),
            "is_setter": seat == row.setter,
            "mean": record.mean(seat),
            "unrated": record.unrated(seat),
            "tests_passed": passed(ran),
            "tests": len(ran.results) if ran and ran.results is not None else None,
            "complaint": ran.complaint if ran else None,
            "is_unsafe": ran.is_unsafe if ran else None,
            "code": solution.get("code") if solution else None,
            "explanation_text": solution.get("explanation") if solution else None,
        }
        if said := record.solutions.get(seat):
            solver |= measured.taken(said)
        judgments = record.judgments.get(seat, ())
        yield from (solver | _vote(one, models) for one in judgments)
        if not judgments:
            yield solver


def _vote(one: Judgment, models: Mapping[str, str]) -> Json:
    return {
        "judge": one.judge_seat,
        "judge_model": models.get(one.judge_seat),
        **{name: (one.scores or {}).get(name) for name in SCORES},
        "unscored_reason": one.unscored_reason,
        "flags": "; ".join(one.flags),
        "feedback": one.rationale,
    }
