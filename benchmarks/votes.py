"""A file of 50,000 votes by 1,000 voters, imported by the documented command, and how far it agrees with two judges.

BENCH_DATABASE_URL=postgres://… measures another database than SQLite; it has to be empty.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import django

from benchmarks.parts import PYTHON, ROOT

VOTES, VOTERS, QUESTIONS, MODELS = 50_000, 1_000, 500, 10
JUDGES = {"strict": 0.15, "lenient": 0.35}  # how often each errs
VOTERS_ERR = 0.25
LANGUAGES = ("English", "German", "Chinese")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        database = os.environ.get("BENCH_DATABASE_URL", f"sqlite:///{folder}/bench.sqlite3")
        environment = {**os.environ, "ARENA_DATA": folder, "DATABASE_URL": database}
        environment |= {"ARENA_LOG_LEVEL": "CRITICAL", "DJANGO_SETTINGS_MODULE": "arenasite.settings"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed: compiled by the first command
        environment |= {"PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
        environment |= {"REDIS_URL": f"unix://{folder}/nobody.sock"}

        def manage(*arguments: str) -> str:
            began, used = time.perf_counter(), _used_by_commands()
            command = [PYTHON, "manage.py", *arguments]
            done = subprocess.run(command, cwd=ROOT, env=environment, check=True, text=True, stdout=subprocess.PIPE)
            sys.stdout.write("".join(f"    {line}\n" for line in done.stdout.splitlines() if "import" in arguments[0]))
            return f"{time.perf_counter() - began:.1f} s, {_used_by_commands() - used:.1f} CPU-s"

        manage("migrate", "--verbosity", "0")
        subprocess.run([PYTHON, "-m", "benchmarks.votes", "owner"], cwd=ROOT, env=environment, check=True)
        votes = _write(Path(folder, "votes.jsonl"), _votes())
        verdicts = _write(Path(folder, "verdicts.jsonl"), _verdicts())
        into = ("--dataset", "votes", "--owner", "bench")
        took = manage("import_battles", str(votes), *into, "--voter", "annotator")
        print(f"{VOTES:,} votes by {VOTERS:,} voters imported   {took}", flush=True)
        took = manage("import_battles", str(verdicts), *into)
        print(f"verdicts of {len(JUDGES)} judges on the same outputs imported   {took}", flush=True)
        subprocess.run([PYTHON, "-m", "benchmarks.votes", "agreement"], cwd=ROOT, env=environment, check=True)


def _used_by_commands() -> float:
    """Seconds of all commands so far on a core; on a machine that does other things, too, these tell more."""
    used = os.times()
    return used.children_user + used.children_system


def agreement() -> None:
    from experiments.models import Dataset  # noqa: PLC0415 - after the set-up
    from leaderboard.votes.agreement import report  # noqa: PLC0415

    dataset = Dataset.objects.get()
    began, used = time.perf_counter(), time.process_time()
    found = report(dataset)
    took = f"{time.perf_counter() - began:.1f} s, {time.process_time() - used:.1f} CPU-s"
    print(f"agreement of people, and with {len(JUDGES)} judges' boards   {took}")
    for one in found.people:
        print(f"    people with each other: kappa {one.among.kappa:.3f}, {one.among.compared:,} pairs of votes")
    for pair in found.pairs:
        both = f"{pair.first.judge} – {pair.second.judge}"
        print(f"    {both}: kappa {pair.answers.kappa:.3f}, {pair.answers.compared:,} pairs of answers")


def owner() -> None:
    from accounts.models import User  # noqa: PLC0415 - after the set-up

    User.objects.create_user("bench", password=None, role="admin")


def _votes() -> Iterator[dict[str, Any]]:
    chance = random.Random(1)
    for number in range(VOTES):
        question, pair = chance.randrange(QUESTIONS), chance.choice(list(combinations(range(MODELS), 2)))
        row = _row(question, *(pair if chance.random() < 0.5 else pair[::-1]))
        row["winner"] = _winner(chance, question, row, VOTERS_ERR)
        who = f"Annotator {chance.randrange(VOTERS):04} of the study"
        yield {**row, "annotator": who, "tstamp": 1_700_000_000 + 11 * number, "language": LANGUAGES[question % 3]}


def _verdicts() -> Iterator[dict[str, Any]]:
    chance = random.Random(2)
    for judge, errs in JUDGES.items():
        for question in range(QUESTIONS):
            for first, second in combinations(range(MODELS), 2):
                row = _row(question, first, second)
                yield {**row, "winner": _winner(chance, question, row, errs), "judge": judge}


def _row(question: int, first: int, second: int) -> dict[str, Any]:
    names = {"model_a": f"model-{first:02}", "model_b": f"model-{second:02}"}
    said = {f"response_{key[-1]}": f"Answer of {name} to {question}. " * 8 for key, name in names.items()}
    return {**names, "question_id": question, "prompt": f"Question {question}: why? " * 5, **said}


def _winner(chance: random.Random, question: int, row: dict[str, Any], errs: float) -> str:
    """The better one has the lower number on most questions; a tie in ten."""
    better = "model_a" if (row["model_a"] < row["model_b"]) == (question % 5 > 0) else "model_b"
    drawn = chance.random()
    if drawn < 0.1:
        return "tie"
    other = "model_b" if better == "model_a" else "model_a"
    return other if drawn < 0.1 + errs else better


def _write(path: Path, rows: Iterator[dict[str, Any]]) -> Path:
    with path.open("w") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
    return path


if __name__ == "__main__":
    if verbs := sys.argv[1:]:
        django.setup()
        {"agreement": agreement, "owner": owner}[verbs[0]]()
    else:
        main()
