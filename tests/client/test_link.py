"""`make setup` puts the command into the environment without building or fetching anything."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import httpx
import pytest

from tests.client.conftest import ROOT


@pytest.mark.system
def test_the_command_is_there_and_runs_the_client_of_this_repository(tmp_path):
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, ROOT / "client" / "link.py"], check=True)

    libraries = str(Path(httpx.__file__).parent.parent)  # what `make setup` installs from the lock
    done = subprocess.run(
        [tmp_path / "venv" / "bin" / "arena", "--version"],
        env={**os.environ, "PYTHONPATH": libraries},
        capture_output=True,
        text=True,
    )

    assert done.stdout.startswith("arena 0."), done.stderr


def test_make_links_it_in_both_of_its_environments():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    assert makefile.count("$(call link)") == 2
    assert "client/link.py" in makefile


@pytest.mark.system
def test_nothing_of_the_platform_is_imported():
    script = (
        "import sys; import arena_lab.cli; "
        "print(*sorted({name.partition('.')[0] for name in sys.modules} "
        "& {'django', 'rest_framework', 'accounts', 'experiments', 'leaderboard', 'arenasite', 'pandas'}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "client" / "src")}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, cwd="/")

    assert (done.stdout.strip(), done.stderr) == ("", "")
