"""The distribution `arena-lab-inspect`, installed beside the platform, under the released Inspect."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "interop" / "inspect"
INSTALL = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target")
ALONE = ("-c", os.devnull, "--rootdir", ".", "--noconftest", "-p", "no:django", "-p", "no:cacheprovider")
INSIDE = "tests/interop/installed_inspect.py"


@pytest.mark.system
def test_workflows_are_tasks_of_inspect(tmp_path):
    """Inspect names tasks by their distribution only where it is in the site-packages of the environment."""
    shutil.copytree(SOURCE, tmp_path / "source")  # building leaves files there
    venv.create(tmp_path / "venv", symlinks=True)
    [site] = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (site / "platform.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
    subprocess.run([sys.executable, *INSTALL, site, tmp_path / "source"], check=True)
    ran = subprocess.run(
        [tmp_path / "venv" / "bin" / "python", "-m", "pytest", *ALONE, "-q", "--tb=short", "--show-capture=no", INSIDE],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
