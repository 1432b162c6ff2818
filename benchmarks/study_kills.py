"""`python -m benchmarks.studies --kills`: a large study is played while workers are killed. Then the platform's rows
are held against the provider's ledger: no run may be played twice, no answer requested again, none lost.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID

import django

from benchmarks.engine import LEDGER, start_simulated
from benchmarks.faults.checks import ledger
from benchmarks.faults.facts import Called, Facts, Played, Served, Stepped
from benchmarks.parts import PYTHON, ROOT, Parts, platform

MODEL = "sim/neutral:tps=0:first=0:words=4"
CONDITIONS, MESSAGES = 20, 2
PACE = {"ARENA_LEASE_SECONDS": "6", "ARENA_SWEEP_SECONDS": "2", "ARENA_API_PER_PERSON": "0"}
RAISE_LIMIT = "from experiments.models import Provider; Provider.objects.update(concurrency=1000, is_simulated=True)"
WORKER = (PYTHON, "manage.py", "rqworker", "engine", "-v", "0")
CHECKS = {
    "requests that are no call": ledger.unrecorded,
    "calls requested twice": ledger.doubled,
    "answers that the provider did not give": ledger.ungiven,
    "steps asked again after their answer": ledger.repeated,
    "attempts out of order": ledger.disordered,
    "calls left open": ledger.left_open,
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies --kills", description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--every", type=float, default=20, help="seconds between two kills of a worker, on average")
    parser.add_argument("--seed", type=int, default=7, help="of which worker is killed, and when")
    options = parser.parse_args(arguments)
    os.environ |= PACE
    with platform() as parts:
        start_simulated(parts, MODEL)
        parts.manage("shell", "-v0", "-c", RAISE_LIMIT)
        parts.start("worker-2", *WORKER)
        played(parts, options)
        look = [PYTHON, "-m", "benchmarks.study_kills", str(parts.folder / LEDGER)]
        return subprocess.run(look, cwd=ROOT, env=parts.environment, check=False).returncode


def played(parts: Parts, options: argparse.Namespace) -> None:
    """The study to its end. One of two workers is killed about every so many seconds, and another takes its place."""
    body = {"title": "Kills", "design": _design(options.runs), "plan": _plan(), "at_once": 100}
    study = parts.ask("POST", "studies/", body)["id"]
    parts.ask("POST", f"studies/{study}/lock/")
    lots, killed, began = random.Random(options.seed), 0, time.monotonic()
    parts.ask("POST", f"studies/{study}/start/")
    while (state := parts.ask("GET", f"studies/{study}/"))["state"] == "running":
        time.sleep(options.every * lots.uniform(0.5, 1.5))
        name = lots.choice(("worker", "worker-2"))
        process = parts.processes.pop(name)
        process.kill()
        process.wait()
        parts.start(name, *WORKER)
        killed += 1
    assert state["state"] == "completed", state["note"]
    took = time.monotonic() - began
    print(f"{state['ended']:,} runs of {state['planned']:,} in {took:.0f} s, {killed} workers killed", flush=True)


def _design(runs: int) -> dict[str, Any]:
    return {
        "workflow": "starchamber",
        "config": {"judge": False, "first_message": "{name}?", "script": [{"text": "Why?"}] * (MESSAGES - 1)},
        "cast": {"model": {"model": MODEL}},
        "factors": [
            {
                "name": "prompt",
                "is_prompt": True,
                "levels": [{"name": f"p{n}", "texts": {"name": f"Question {n}"}} for n in range(CONDITIONS)],
            }
        ],
        "repeats": max(1, runs // CONDITIONS),
        "seed": 1,
    }


def _plan() -> dict[str, Any]:
    tokens = {"name": "tokens", "kind": "score", "source": {"of": "run", "figure": "output_tokens"}}
    sides = {"first": {"prompt": "p0"}, "second": {"prompt": "p1"}}
    return {"outcomes": [tokens], "contrasts": [{"name": "first prompt", "outcome": "tokens", **sides}]}


def look(served: Path) -> int:
    """Prints what was counted and every difference; how many there are."""
    from experiments.models import Run, StudyRun  # noqa: PLC0415 - after the set-up

    planned = Counter(StudyRun.objects.values_list("run", flat=True))  # None: not begun
    runs = Run.objects.order_by("created").prefetch_related("steps", "calls__step")
    facts = Facts(
        runs=[_of(run) for run in runs.iterator(200)],
        served=[
            Served(row["request_id"], row["outcome"], row["tokens_sent"])
            for row in map(json.loads, served.read_text(encoding="utf-8").splitlines())
        ],
    )
    completed = [run for run in facts.runs if run.state == Run.State.COMPLETED]
    states = Counter(call.state for call in facts.calls)
    answered = Counter(len([call for call in run.calls if call.state == ledger.COMPLETED]) for run in completed)
    found = {name: list(check(facts)) for name, check in CHECKS.items()}
    found["planned runs without one run of their own"] = [
        str(run) for run, times in planned.items() if run is None or times > 1
    ]
    found["runs that are not planned"] = [run.id for run in facts.runs if UUID(run.id) not in planned]
    found["runs that are not completed"] = [run.id for run in facts.runs if run.state != Run.State.COMPLETED]
    found["runs with more or fewer answers"] = [
        f"{several} runs with {n} answers" for n, several in answered.items() if n != MESSAGES
    ]
    print(f"{len(facts.runs):,} runs, {len(completed):,} completed, {MESSAGES} answers in each")
    print(f"{len(facts.calls):,} calls: {', '.join(f'{count:,} {state}' for state, count in sorted(states.items()))}")
    print(f"{len(facts.served):,} requests at the provider")
    for name, sentences in found.items():
        print(f"    {name}: {len(sentences)}", *sentences[:3], sep="\n        ")
    return min(1, sum(map(len, found.values())))


def _of(run: Any) -> Played:
    return Played(
        id=str(run.pk),
        workflow=run.experiment_id,
        state=run.state,
        steps=[Stepped(step.key, step.kind, step.state) for step in run.steps.all()],
        calls=[Called(str(call.pk), call.step.key, call.attempt, call.state) for call in run.calls.all()],
    )


if __name__ == "__main__":
    django.setup()
    sys.exit(look(Path(sys.argv[1])))
