"""Computes the results of this study anew, from data.csv, labels.csv and plan.json, and compares them with
results.json.

    pip install -r requirements.txt
    python recompute.py

Exits with 0 where every number is the same, else with 1. The formulas, with their sources, are in leaderboard/ratings.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from leaderboard.ratings.studies import labeled
from leaderboard.ratings.studies.analysis import Plan, analyse, survival_curves
from leaderboard.ratings.studies.table import read

FOLDER = Path(__file__).parent


def main() -> int:
    contents = json.loads((FOLDER / "plan.json").read_text(encoding="utf-8"))
    stored = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    plan = Plan.read(contents)
    rows = read(plan, (FOLDER / "data.csv").read_text(encoding="utf-8"))
    results = analyse(plan, rows, stored["shares"], stored.get("spent_at"))
    found = json.loads(json.dumps([one.as_data() for one in results]))
    for one in found:
        said = "planned" if one["is_planned"] else "exploratory"
        interval = f"{one['difference']} [{one['low']}, {one['high']}]"
        sys.stdout.write(f"{one['contrast']} ({said}): {interval}, p = {one['p']}\n")
    labels = FOLDER / "labels.csv"
    units = labeled.read(labels.read_text(encoding="utf-8")) if labels.exists() else []
    corrected = json.loads(json.dumps([asdict(one) for one in labeled.corrected_contrasts(plan, rows, units)]))
    for one in corrected:
        value, low, high = (one["difference"][name] for name in ("value", "low", "high"))
        sys.stdout.write(f"{one['contrast']}, corrected by labels: {value} [{low}, {high}]\n")
    curves = json.loads(json.dumps([asdict(one) for one in survival_curves(plan, rows)]))
    is_same = (
        found == stored["results"]
        and corrected == stored.get("corrected", [])
        and curves == stored.get("curves", curves)  # results of earlier versions have none
    )
    words = "Every number is the same as in" if is_same else "Numbers differ from"
    sys.stdout.write(f"{words} results.json.\n")
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
