"""A study in the browser: 48 runs of a script with a planted effect, a worker killed meanwhile, and its folder."""

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import PLANTED, SIDEWAYS, Lab, SignIn, violations
from tests.fixtures import wait_until

ALL_RUNS = 600_000  # milliseconds: on a busy machine
LEVELS = {
    "cast.model.model": ("model", "\n".join(f"{name} | {slug}" for name, slug in PLANTED.items())),
    "config.context": ("context", "none |\nbrief | Answer briefly."),
    "prompt": ("question", "How do locks open?\nHow are keys copied?\nWhy do tides turn?\nWho wrote this?"),
}
CONTRASTS = {"plain – careful": True, "twin – careful": True, "brief – none": False, "twin – plain": False}


def test_a_planted_effect_is_found_the_others_are_not_and_the_folder_recomputes(
    lab: Lab, sign_in: SignIn, tmp_path: Path
) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/studies/")
    page.get_by_role("link", name="New study").first.click()
    page.get_by_role("main").get_by_role("link", name="StarChamber").click()
    page.fill("#id_title", "Who refuses")
    for varies, (name, levels) in LEVELS.items():
        page.locator("#id_factors [data-add]").click()
        row = page.locator("#id_factors [data-row]").last
        row.get_by_label("Varies").select_option(varies)
        row.get_by_label("Name", exact=True).fill(name)
        row.get_by_label("Levels, one a line").fill(levels)
    page.get_by_text("Settings of every run").click()
    for folded in ("Script", "Scores"):
        page.locator("summary").filter(has=page.get_by_text(folded, exact=True)).first.click()
    for text in ("Please say more.", "Why?"):
        page.locator("#id_script [data-add]").click()
        page.locator("#id_script [data-row]").last.get_by_label("Message").fill(text)
    page.locator("#id_judge").uncheck()
    page.fill("#id_repeats", "2")
    expect(page.locator("#estimate")).to_contain_text("48 runs")
    assert violations(page) == []
    page.locator("#start").click()
    # The plan
    expect(page.locator("#id_contrasts [data-row]")).to_have_count(3)
    page.get_by_label("Hypothesis").fill("The careful model refuses more often; the context makes no difference.")
    page.locator("#id_contrasts [data-add]").click()
    row = page.locator("#id_contrasts [data-row]").last
    row.get_by_label("First").select_option("model=twin")
    row.get_by_label("Second").select_option("model=plain")
    page.locator("#id_outcomes [data-add]").click()
    row = page.locator("#id_outcomes [data-row]").last
    row.get_by_label("What is measured").select_option(index=1)
    row.get_by_label("Value of the run").select_option("first_turn")
    row.get_by_label("Name").fill("first refusal")
    page.locator("#id_contrasts [data-add]").click()
    row = page.locator("#id_contrasts [data-row]").last
    for label, value in {"First": "model=careful", "Second": "model=plain", "Role": "explored"}.items():
        row.get_by_label(label).select_option(value)
    row.get_by_label("Outcome").fill("first refusal")
    assert violations(page) == []
    page.get_by_role("button", name="Save plan").click()
    expect(page.locator("#sizes tbody tr")).not_to_have_count(0)
    assert violations(page) == []
    page.get_by_role("button", name="Lock plan").click()
    page.get_by_role("button", name="Start study").click()
    expect(page.locator("#study-live [data-part=ended]")).to_contain_text("of 48")
    study = page.url.rstrip("/").rpartition("/")[2]
    # A worker is killed once some runs have ended and others are under way
    wait_until(lambda: lab.ask("GET", f"studies/{study}/")["ended"] >= 5, "some runs to end")
    for pid in lab.platform.pids("worker"):
        os.kill(pid, signal.SIGKILL)
    expect(page.locator("#study-live")).to_have_attribute("data-state", "completed", timeout=ALL_RUNS)
    expect(page.get_by_role("button", name="Analyze")).to_be_visible()  # the page has loaded itself again
    assert violations(page) == []

    page.get_by_role("button", name="Analyze").click()
    for name, is_found in CONTRASTS.items():
        finding = page.locator(".findings > li", has_text=name)
        expect(finding.locator(".badge")).to_have_text("found" if is_found else "not found")
    curves = page.locator("figure.curves")
    curves.locator("summary").click()
    expect(curves.locator("tbody tr").first).to_contain_text("16")
    assert violations(page) == []
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate(SIDEWAYS) == 0
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator("#results-title").locator("xpath=../..").get_by_role("link", name="n = 16").first.click()
    expect(page.locator("#study-runs tbody tr")).to_have_count(16)
    assert violations(page) == []
    page.go_back()
    runs = lab.ask("GET", f"studies/{study}/runs/")["runs"]
    assert len({one["run"] for one in runs}) == len(runs) == 48
    assert {one["state"] for one in runs} == {"completed"}
    # The folder recomputes in a process that has nothing of ours
    with page.expect_download() as download:
        page.get_by_role("link", name="Download folder").click()
    zipfile.ZipFile(download.value.path()).extractall(tmp_path)
    command, place = [sys.executable, "recompute.py"], tmp_path / "study"
    done = subprocess.run(command, cwd=place, env={}, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert "plain – careful" in done.stdout
