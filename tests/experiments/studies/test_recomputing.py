"""The folder of a study in a process that has nothing but it: the same numbers, and a difference is noticed."""

import io
import json
import subprocess
import sys
import zipfile

import pytest

from experiments.studies import folder, results
from tests.experiments.studies import designs

pytestmark = [pytest.mark.django_db, pytest.mark.system]


def recomputed(place):
    without_us = (
        "import sys; sys.modules['django'] = None; import runpy; runpy.run_path('recompute.py', run_name='__main__')"
    )
    return subprocess.run(
        [sys.executable, "-c", without_us], cwd=place, capture_output=True, text=True, env={}, timeout=120, check=False
    )


def test_the_folder_computes_the_same_numbers_and_notices_a_changed_one(provider, alice, drive, tmp_path):
    def unpacked(name, design, plan):
        study = designs.begun(alice, design, plan)
        drive()
        look = results.look(study, by=alice)
        zipfile.ZipFile(io.BytesIO(b"".join(folder.folder(look)))).extractall(tmp_path / name)
        return tmp_path / name / "study"

    study = unpacked("first", designs.design(), designs.plan(explored=[designs.SOONER]))
    [curves] = json.loads((study / "results.json").read_text())["curves"]
    assert (curves["contrast"], curves["first"]["n"]) == ("models in time", 8)
    same = recomputed(study)
    assert (same.returncode, same.stderr) == (0, "")
    assert "tokens of models (planned): " in same.stdout
    data = study / "data.csv"
    lines = data.read_text().splitlines()
    place = lines[0].split(",").index("tokens")
    cells = lines[1].split(",")
    cells[place] = "100000.0"
    data.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    changed = recomputed(study)
    assert (changed.returncode, changed.stdout.splitlines()[-1]) == (1, "Numbers differ from results.json.")

    same = recomputed(unpacked("second", designs.sure(), designs.sure_plan()))
    assert (same.returncode, same.stderr) == (0, "")
    assert "answers of models (planned): " in same.stdout
    assert "sure of models (planned): " in same.stdout
