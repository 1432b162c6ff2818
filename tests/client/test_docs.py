"""The examples of `docs/client.md` run exactly as they are printed."""

import re
import subprocess
import sys

import pytest

from tests.client.conftest import ROOT

PAGE = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(program, lab, folder):
    return subprocess.run(
        [sys.executable, "-c", program], env=lab.environment(), cwd=folder, capture_output=True, text=True, timeout=240
    )


@pytest.mark.system
def test_a_first_run_takes_five_lines(lab, tmp_path):
    first = EXAMPLES[0]
    assert len([line for line in first.splitlines() if line]) == 5

    done = run(first, lab, tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[1] experiment created\n")
    assert "A: " in done.stdout
    assert "completed: max_turns" in done.stdout.splitlines()[-1]


@pytest.mark.system
def test_so_does_the_rest_of_the_page_one_example_after_the_other(lab, tmp_path):
    opening = "from arena_lab import Arena\narena = Arena()\n"

    done = run(opening + "\n".join(EXAMPLES[1:]), lab, tmp_path)

    assert done.returncode == 0, done.stderr
    assert "('completed', 2, Decimal(" in done.stdout
    assert "cooperation" in done.stdout
    assert "sim/cooperative" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"panels.html", "panels.jsonl"}
