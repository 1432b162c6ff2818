"""The limited process says what it has found line by line; nothing else may be written where that is read."""

import subprocess
import sys

import pytest
from django.conf import settings

pytestmark = pytest.mark.system


FOUND = "select current_setting('enable_progress_bar')"
ASKED = f"""
import sys; sys.path.insert(0, {str(settings.BASE_DIR)!r})
from pathlib import Path
from experiments.datasets.reader import duck, parquet
from experiments.datasets.reader.limits import Limits
limits = Limits(memory=1 << 28, unpacked=1 << 28)
print(%s.execute({FOUND!r}).fetchone()[0])
"""


@pytest.mark.parametrize(
    "connected", ["duck._connect({'/nowhere'}, limits)", "parquet._connect(Path('/nowhere'), limits)"]
)
def test_duckdb_draws_no_bar_of_its_progress(connected):
    """It takes a program without a file for a person at a terminal, and draws after two seconds."""
    command = [sys.executable, "-I", "-c", ASKED % connected]
    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert done.stdout.strip() == "False"
