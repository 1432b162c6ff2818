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
from tests.fixtures import SLOWEST

pytestmark = [pytest.mark.system, pytest.mark.exhaustive]


SEED, MINUTES = "8", "0.6"
WORKFLOWS = ("arena automatic", "arena manual", "starchamber", "council", "debate", "battles", "coding")


@pytest.fixture(scope="module")
def performed() -> subprocess.CompletedProcess[str]:
    options = ("--seed", SEED, "--minutes", MINUTES, "--database", "postgresql", "--patience", str(SLOWEST))
    command = [sys.executable, "-m", "benchmarks.faults", *options]
    return subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=900)


def test_nothing_is_lost_and_nothing_is_asked_twice(performed):
    assert performed.returncode == 0, performed.stdout + performed.stderr
    assert "differences found: 0" in performed.stdout


def test_every_workflow_came_to_an_end(performed):
    for workflow in WORKFLOWS:
        row = re.search(rf"^  {workflow} +(\d+) +(\d+) +(\d+) +\d+ +0$", performed.stdout, re.MULTILINE)
        assert row, workflow
        assert sum(map(int, row.groups())), workflow


def test_every_kind_of_fault_was_injected(performed):
    for kind in FAULTS:
        assert re.search(rf"^  {kind} +[1-9]", performed.stdout, re.MULTILINE), kind
    assert len(re.findall(r"^  answer \w+ +[1-9]", performed.stdout, re.MULTILINE)) >= len(TURNED_AWAY)


def test_faults_are_named_by_how_they_begin():
    assert named("redis,worker", database="sqlite") == [
        *("worker", "workers", "redis", "redis-flush", "redis-away", "redis-freeze"),
    ]
    assert "postgres" not in named("", database="sqlite")
    with pytest.raises(ValueError, match="no fault called lightning"):
        named("lightning", database="postgresql")
