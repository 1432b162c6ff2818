"""Everything is played at once while everything breaks, and in the end all books agree.

The long form, with other seeds and for as long as one likes, is `make faults`.
"""

import re
import subprocess
import sys

import pytest

from benchmarks.faults.kinds import PROVIDER, named
from benchmarks.faults.spoiling import TURNED_AWAY
from tests.arenasite.platforms import ROOT, environment

WORKFLOWS = ("arena automatic", "arena manual", "starchamber", "council", "debate", "battles", "coding")
PATIENCE = ("--patience", "4")  # by how much a machine may be slower than usual


@pytest.mark.system
@pytest.mark.exhaustive
@pytest.mark.parametrize("has_callers", [False, True], ids=["workers call", "callers call"])
def test_nothing_is_lost_and_nothing_is_asked_twice_whatever_breaks(has_callers):
    options = ["--seed", "8", *PATIENCE, "--minutes", "0.6", "--database", "postgresql"]
    options += ["--callers"] if has_callers else []
    command = [sys.executable, "-m", "benchmarks.faults", *options]
    played = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=900)
    said = played.stdout

    assert played.returncode == 0, said + played.stderr
    assert "differences found: 0" in said
    for workflow in WORKFLOWS:
        row = re.search(rf"^  {workflow} +(\d+) +(\d+) +(\d+) +\d+ +0$", said, re.MULTILINE)
        assert row, workflow
        assert sum(map(int, row.groups())), workflow
    for kind in {*named("", database="postgresql", has_callers=has_callers)} - {PROVIDER}:
        assert re.search(rf"^  {kind} +[1-9]", said, re.MULTILINE), kind
    assert len(re.findall(r"^  answer \w+ +[1-9]", said, re.MULTILINE)) >= len(TURNED_AWAY)
