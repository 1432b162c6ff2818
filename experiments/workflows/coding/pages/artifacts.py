"""A contest as a zip in the layout of MatrixArena's data folder, cycle by cycle, made while it is sent."""

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
from experiments.runs.reports.document import encoded
from experiments.workflows.coding.pages import ratings
from experiments.workflows.coding.pages.rated import Moment
from experiments.workflows.coding.pages.record import Contents, contents, passed

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
    archive.writestr(zipping.entry("data/battles.jsonl"), b"".join(lines))
    _write(archive, "data/leaderboard.json", _leaderboard(history.values()))
    yield
    for row in rows:
        yield from _cycle(archive, run, row, history.get(row.turn), files)


def _cycle(
    archive: zipfile.ZipFile, run: Run, row: Cycle, after: Moment | None, files: Mapping[str, str]
) -> Iterator[None]:
    row.run = run
    folder = f"data/cycles/{row.began.astimezone(UTC):%Y%m%d_%H%M%S}_c{row.turn}"
    record, models = contents(row), dict(row.contestants)
    write = partial(_write, archive, at=row.began)
    write(f"{folder}/summary.json", {**_battle(row, after), **_standing(row)})
    write(f"{folder}/generator_problem.json", _problem(record))
    for seat, slug in row.contestants if row.state != Cycle.State.VOID else ():
        name = files[slug]
        write(f"{folder}/solver_{name}.json", {"model": slug, **_solution(record, seat)})
        write(f"{folder}/execution_{name}.json", {"model": slug, **_execution(record, seat)})
        write(f"{folder}/judgments_{name}.json", {"model": slug, **_judgments(record, seat, models)})
        yield
    yield from _raw(archive, row, f"{folder}/raw", {seat: files[slug] for seat, slug in models.items()})


def _battle(row: Cycle, after: Moment | None) -> Json:
    """MatrixArena's line of a cycle. What does not count, or has no score, is null; `unrated` and `counts` say why."""
    models, found = dict(row.contestants), row.found
    means = found.get("means", {})
    return {
        "cycle_num": row.turn,
        "timestamp": int((row.ended or row.began).timestamp()),
        "generator": models.get(row.setter, row.setter),
        "solvers": list(models.values()),
        "judges_pool": list(models.values()),
        "problem_title": row.title,
        "average_scores": {slug: means.get(seat) for seat, slug in models.items()},
        "overall_average": found.get("overall"),
        "elo_after": _rounded(after.compatible) if after else None,
    }


def _standing(row: Cycle) -> Json:
    models, found = dict(row.contestants), row.found

    def by_model(values: Mapping[str, Any]) -> Json:
        return {models.get(seat, seat): value for seat, value in values.items()}

    return {
        "run": str(row.run_id),
        "state": row.state,
        "counts": row.state == Cycle.State.RATED and row.voided is None,
        "reason": row.reason,
        "void_reason": row.void_reason,
        "quorum": found.get("quorum"),
        "votes": {solver: by_model(votes) for solver, votes in by_model(found.get("votes", {})).items()},
        "tests_passed": by_model(found.get("passed", {})),
        "unrated": by_model(found.get("unrated", {})),
    }


def _problem(record: Contents) -> Json:
    problem = record.set_problem
    if problem is None:
        return {"title": None, "error": record.cycle.reason or "The cycle has no problem."}
    return {
        "title": problem.get("title"),
        "description": problem.get("description"),
        "function_name": problem.get("entry"),
        "comparison": problem.get("comparison"),
        "test_cases": [_test(test) for test in problem.get("shown", ())],
        "hidden_test_cases": [_test(test) for test in problem.get("hidden", ())],
        "evaluation_criteria": problem.get("criteria"),
        "reference_solution": problem.get("reference"),
        "checks": problem.get("checks"),
    }


def _test(test: Mapping[str, Any]) -> Json:
    """Input and output as text, as the setter wrote them."""
    given = json.dumps(test.get("arguments"), ensure_ascii=False)
    return {"name": test.get("name"), "input": given, "expected_output": json.dumps(test.get("expected"))}


def _solution(record: Contents, seat: str) -> Json:
    solution, message = record.solution(seat), record.solutions.get(seat)
    if solution is None:
        why = record.unrated(seat) or "Nothing yet."
        return {"seat": seat, "solution_code": None, "explanation": None, "error": why}
    said = {"solution_code": solution.get("code"), "explanation": solution.get("explanation")}
    return {"seat": seat, **said, "error": None, "flags": message.flags if message else []}


def _execution(record: Contents, seat: str) -> Json:
    ran = record.executions.get(seat)
    count = passed(ran)
    if ran is None or ran.results is None or count is None:
        why = ran.error if ran else "There was nothing to run."
        return {"status": "not_run", "summary": why, "passed": None, "failed": None, "skipped": None, "tests": []}
    expected = {test.get("name"): test for test in ran.tests}
    tests = [_tested(result, expected.get(result["name"], {})) for result in ran.results]
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


def _tested(result: Mapping[str, Any], test: Mapping[str, Any]) -> Json:
    verdict = str(result["verdict"])
    return {
        "test": result["name"],
        "status": STATUSES.get(verdict, verdict),
        "input": test.get("arguments"),
        "expected": test.get("expected"),
        "actual": result.get("value"),
        "error": result.get("error"),
        **{name: result.get(name) for name in ("stdout", "stderr", "seconds", "peak_memory")},
    }


def _judgments(record: Contents, seat: str, models: Mapping[str, str]) -> Json:
    """Judges who gave no vote, or none that could be read, are there with null and the reason."""
    given = record.judgments.get(seat, ())
    return {
        "average": record.cycle.found.get("means", {}).get(seat),
        "unrated": record.unrated(seat) or None,
        "judgments": {models.get(one.judge_seat, one.judge_seat): _judgment(one) for one in given},
    }


def _judgment(one: Judgment) -> Json:
    scores = dict(one.scores) if one.scores else None
    overall = scores.pop("overall", None) if scores else None
    return {
        "scores": scores,
        "overall_score": overall,
        "feedback": one.rationale,
        "flags": one.flags,
        "error": one.unscored_reason or None,
    }


def _raw(archive: zipfile.ZipFile, row: Cycle, folder: str, files: Mapping[str, str]) -> Iterator[None]:
    """Every answer as it came, the unreadable ones too: those before the last have a number."""
    calls = Call.objects.filter(run=row.run_id, step__turn=row.turn, step__purpose__in=ANSWERS).exclude(text="")
    counts = Counter(_place(key, files) for key in calls.values_list("step__key", flat=True))
    seen = Counter[str]()
    for key, text in calls.order_by("id").values_list("step__key", "text").iterator(chunk_size=ANSWERS_AT_ONCE):
        name = _place(key, files)
        seen[name] += 1
        number = "" if seen[name] == counts[name] else f"_attempt_{seen[name]}"
        archive.writestr(zipping.entry(f"{folder}/{name}{number}.txt", row.began), text)
        yield


def _place(key: str, files: Mapping[str, str]) -> str:
    """cycle/3/judge/coder-1/of/coder-2/repair is judge_J_for_S."""
    match key.removesuffix("/repair").split("/"):
        case ["cycle", _turn, "problem"]:
            return "generator"
        case ["cycle", _turn, "solution", seat]:
            return f"solver_{_file(seat, files)}"
        case ["cycle", _turn, "judge", judge, "of", solver]:
            return f"judge_{_file(judge, files)}_for_{_file(solver, files)}"
        case _:
            return f"other_{_file(key, files)}"


def _file(seat: str, files: Mapping[str, str]) -> str:
    return files.get(seat, slugs([seat])[seat])


def _leaderboard(history: Iterable[Moment]) -> list[Json]:
    """The board after the cycle that was rated last."""
    latest = max(history, key=lambda moment: moment.number, default=None)
    board = latest.compatible if latest else {}
    ranked = sorted(board, key=lambda name: (-board[name], name))
    return [{"rank": rank, "model": name, "elo": round(board[name], DIGITS)} for rank, name in enumerate(ranked, 1)]


def _rounded(board: Mapping[str, float]) -> dict[str, float]:
    return {name: round(board[name], DIGITS) for name in sorted(board)}


def _write(archive: zipfile.ZipFile, name: str, content: Any, at: datetime = zipping.EARLIEST) -> None:
    archive.writestr(zipping.entry(name, at), json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False))
