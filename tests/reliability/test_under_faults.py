"""Everything is played at once while everything breaks, and in the end all books agree.

The long form, with other seeds and for as long as one likes, is `make faults`.
"""

import re
import subprocess
import sys

import pytest

from benchmarks.faults.kinds import FAULTS, named
from benchmarks.faults.spoiling import TURNED_AWAY
from tests.arenasite.platforms import ROOT, environment

WORKFLOWS = ("arena automatic", "arena manual", "starchamber", "council", "debate", "battles", "coding")
PATIENCE = ("--patience", "4")  # by how much a machine may be slower than usual


def play(*options: str) -> str:
    """What a play says that has found no difference."""
    command = [sys.executable, "-m", "benchmarks.faults", "--seed", "8", *PATIENCE, *options]
    played = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=900)
    assert played.returncode == 0, played.stdout + played.stderr
    assert "differences found: 0" in played.stdout
    return played.stdout


@pytest.mark.system
@pytest.mark.exhaustive
def test_nothing_is_lost_and_nothing_is_asked_twice_whatever_breaks():
    said = play("--minutes", "0.6", "--database", "postgresql")

    for workflow in WORKFLOWS:
        row = re.search(rf"^  {workflow} +(\d+) +(\d+) +(\d+) +\d+ +0$", said, re.MULTILINE)
        assert row, workflow
        assert sum(map(int, row.groups())), workflow
    for kind in FAULTS:
        assert re.search(rf"^  {kind} +[1-9]", said, re.MULTILINE), kind
    assert len(re.findall(r"^  answer \w+ +[1-9]", said, re.MULTILINE)) >= len(TURNED_AWAY)


def test_faults_are_named_by_how_they_begin():
    assert named("redis,worker", database="sqlite") == [
        *("worker", "workers", "redis", "redis-flush", "redis-away", "redis-freeze"),
    ]
    assert "postgres" not in named("", database="sqlite")
    with pytest.raises(ValueError, match="no fault called lightning"):
        named("lightning", database="postgresql")
