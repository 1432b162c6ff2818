"""Files of other systems that are made of several: a cycle's folder of MatrixArena, a log of Inspect as it packs it."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent / "files"
MODELS = ("a/one", "b/two", "c/three")
DIMENSIONS = ("correctness", "efficiency", "readability", "robustness", "explanation")


def read(name: str) -> bytes:
    return (FILES / name).read_bytes()


def zipped(files: dict[str, Any], **how: Any) -> bytes:
    """The same bytes whenever it is made: some are the names of tests, which all processes must agree on."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, **how) as archive:
        for name, content in files.items():
            text = content if isinstance(content, bytes | str) else json.dumps(content)
            archive.writestr(zipfile.ZipInfo(name), text, compress_type=zipfile.ZIP_DEFLATED)
    return made.getvalue()


def cycle(folder: str = "cycles/20260311_143022_c1") -> dict[str, Any]:
    """The third model's code was lost; the vote of the second on the first failed, with a score in its place."""
    summary = {"cycle_num": 1, "timestamp": 1741696367, "generator": MODELS[0], "solvers": list(MODELS),
               "judges_pool": list(MODELS), "problem_title": "Spread", "elo_snapshot": {"a/one": 1210}}  # fmt: skip
    tests = [{"input": "[1, 5]", "expected_output": "4"}, {"input": "[]", "expected_output": "0"}]
    problem = {"title": "Spread", "description": "Largest less smallest.", "test_cases": tests,
               "evaluation_criteria": "Handles the empty list."}  # fmt: skip
    ran = [
        {"test": 1, "status": "pass", "input": "[1, 5]", "expected": "4", "actual": "4"},
        {"test": 2, "status": "fail", "input": "[]", "expected": "0", "actual": "1"},
    ]
    files = {
        "summary.json": summary,
        "generator_problem.json": problem,
        "solver_a_one.json": {"solution_code": "def spread(n): return max(n) - min(n)", "explanation": "Plain."},
        "solver_b_two.json": {"solution_code": "def spread(n): return 0", "explanation": "Lazy."},
        "solver_c_three.json": {"solution_code": None, "explanation": "Solver failed: timeout"},
        "execution_a_one.json": {"status": "success", "summary": "1/2 passed", "passed": 1, "failed": 1, "tests": ran},
        "execution_b_two.json": {"status": "success", "summary": "executed, no structured output", "tests": []},
        "judgments_a_one.json": [
            {"judge": "b/two", "scores": {}, "overall_score": 5.0, "error": "timeout"},
            {"judge": "c/three", "scores": dict.fromkeys(DIMENSIONS, 8), "overall_score": 10, "feedback": "Good."},
            {"judge": "a/one", "scores": dict.fromkeys(DIMENSIONS, 10), "overall_score": 10},
        ],
        "judgments_b_two.json": {
            "a/one": {"scores": {"correctness": "NaN"}, "overall_score": 3.5, "feedback": "Weak."}
        },
        "judgments_c_three.json": [],
        "raw/generator.txt": "…",
    }
    return {f"{folder}/{name}": content for name, content in files.items()}


def inspect_eval() -> dict[str, Any]:
    """A log of Inspect as a zip of its own kind."""
    log = json.loads(read("inspect.json"))
    samples = {f"samples/{one['id']}_epoch_1.json": one for one in log.pop("samples")}
    return {"header.json": log, "_journal/start.json": {"version": 2}, "summaries.json": [], **samples}
