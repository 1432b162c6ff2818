"""The log of a run as the released Inspect Scout scans it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.runs.reports.inspect_log import inspect_archive, log_name
from tests.experiments import contest_rows
from tests.experiments.contest_rows import votes_of
from tests.experiments.reports.deliberations import council

SCOUTED = Path(__file__).parents[2] / "interop" / "scouted.py"


@pytest.mark.system
@pytest.mark.django_db(transaction=True)
def test_a_scan_finds_every_message_call_span_and_score_of_three_workflows(played, alice, with_totals, tmp_path):
    contest = contest_rows.contest(alice, 1)
    contest.cycle(votes_of())
    runs = {run.experiment.workflow: run for run in (played(), council(alice).run, contest.run)}
    logs = tmp_path / "logs"
    logs.mkdir()
    for run in runs.values():
        (logs / log_name(run, "eval")).write_bytes(inspect_archive(with_totals(run)))

    command = [sys.executable, SCOUTED, logs, tmp_path / "results"]
    scanned = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert scanned.returncode == 0, scanned.stderr[-3000:]
    found = {row["task"].rpartition("/")[2]: row for row in json.loads(scanned.stdout.splitlines()[-1]).values()}

    assert found.keys() == runs.keys()
    for workflow, run in runs.items():
        assert found[workflow]["messages"] == list(run.messages.order_by("pk").values_list("raw_text", flat=True))
        assert found[workflow]["calls"] == sorted(run.calls.values_list("text", flat=True))
        seats = set(run.calls.values_list("step__seat", flat=True))
        assert seats <= set(found[workflow]["spans"])
    judged = runs["arena"].judgments.order_by("created")
    assert found["arena"]["scores"] == [judgment.scores for judgment in judged]
    assert len(found["coding"]["scores"]) >= runs["coding"].judgments.exclude(scores=None).count() > 0
