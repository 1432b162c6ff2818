"""Workflows of installed distributions: one that works, one that cannot be loaded, one that was removed."""

import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from pydantic import BaseModel

from accounts.errors import Forbidden
from experiments import workflows
from experiments.lab.observing import status
from experiments.models import Experiment, Run
from experiments.runs.steering import branching
from experiments.workflows.base.workflow import Workflow
from tests.fixtures import signed_in

ROOT = Path(__file__).parents[3]
INSTALL = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target")
INSIDE = "tests/experiments/examples/installed_interview.py"


@pytest.mark.system
def test_an_installed_workflow_has_everything_that_ours_have(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(ROOT / "examples" / "interview", source)  # building leaves files there
    subprocess.run([sys.executable, *INSTALL, tmp_path / "site", source], check=True)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", "-q", "--tb=short", INSIDE],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout[-5000:]


def test_one_that_cannot_be_loaded_is_left_out_and_named(monkeypatch, admin):
    broken = metadata.EntryPoint("riddle", "arena_riddle_that_is_not_there:WORKFLOW", workflows.GROUP)
    shadow = metadata.EntryPoint("arena", "experiments.workflows.council:WORKFLOW", workflows.GROUP)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [broken, shadow])
    monkeypatch.setattr(workflows, "BROKEN", {})
    assert set(workflows.registry()) == set(workflows.REGISTRY)
    assert set(workflows.BROKEN) == {"riddle", "arena"}
    monkeypatch.setattr(status, "BROKEN", workflows.BROKEN)
    assert "riddle" in signed_in(admin).get("/operator/").content.decode()

    modules, missing = ("surface", "rows", "services"), "arena_riddle_that_is_not_there"
    made = {one: Workflow(slug=one, config=BaseModel, seats=(), run=None, **{one: missing}) for one in modules}
    monkeypatch.setattr(workflows, "REGISTRY", {**workflows.REGISTRY, **made})
    monkeypatch.setattr(workflows, "BROKEN", {})
    workflows.load()
    assert set(workflows.BROKEN) == set(modules), "whose further modules cannot be loaded"
    assert not set(modules) & set(workflows.REGISTRY)
    assert "arena" in workflows.REGISTRY
    assert all("ModuleNotFoundError" in reason for reason in workflows.BROKEN.values())


def test_runs_of_a_removed_one_stay_readable_and_do_not_go_on(played, browser, api, read, alice):
    run = played("sim/neutral:first=0:words=12", "sim/neutral:first=0:words=12", max_turns=1)
    Experiment.objects.update(workflow="riddle")
    run = Run.objects.with_totals().select_related("experiment").get(pk=run.pk)
    page = read(browser.get(run.get_absolute_url()))
    assert all(message.raw_text.split()[0] in page.text for message in run.messages.all())
    for address in ("/runs/", f"/experiments/{run.experiment_id}/", "/search/?q=solar"):
        assert browser.get(address).status_code == 200, address
    for address in (f"runs/{run.pk}/", f"runs/{run.pk}/messages/", f"runs/{run.pk}/export/?format=csv"):
        assert api.get(address).status_code == 200, address
    with pytest.raises(Forbidden):
        branching.branch(run.messages.first(), by=alice)
    assert browser.post(f"/experiments/{run.experiment_id}/start/", {"repeats": 1, "token": "t"}).status_code == 403
    assert run.experiment.runs.count() == 1
