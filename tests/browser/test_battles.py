"""Battles in a real browser: pictures uploaded, outputs added, judged by what is seen, voted on blind, shown to all."""

import io
import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page, expect

from experiments.library.datasets.demo_pictures import SCENES, draw
from tests.browser.conftest import SIDEWAYS, Lab, SignIn, violations
from tests.fixtures import wait_until

EXPERIMENT = re.compile(r"/experiments/[0-9a-f-]{36}/")
BATTLE = re.compile(r"/battles/\d+/")
SAMPLES, PAINTERS = 4, ("atelier", "sketch", "smudge")
LATE = "studio"
DECIDED = "[data-part=decided]"
WATCH = f"""() => {{
  window.seen = [document.querySelector('{DECIDED}').textContent];
  const note = () => window.seen.push(document.querySelector('{DECIDED}').textContent);
  const changes = {{childList: true, subtree: true, characterData: true}};
  new MutationObserver(note).observe(document.querySelector('{DECIDED}'), changes);
}}"""
ARE_SHOWN = "[...document.querySelectorAll('main img')].every((one) => one.naturalWidth > 0)"
ARE_SHARP = "[...document.querySelectorAll('main img')].every((one) => one.width <= 2 * one.naturalWidth)"


def zipped(painters: Sequence[str], *, with_samples: bool) -> bytes:
    """A file as somebody would upload it: the instructions in a table, pictures in a folder for each painter."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        if with_samples:
            rows = [{"index": n, "instruction": SCENES[n].instruction} for n in range(SAMPLES)]
            archive.writestr("samples.jsonl", "\n".join(map(json.dumps, rows)))
        for painter in painters:
            for number in range(SAMPLES):
                archive.writestr(f"models/{painter}/{number}.png", draw(SCENES[number], painter, number))
    return file.getvalue()


def upload(page: Page, name: str, content: bytes) -> None:
    page.set_input_files("#id_file", {"name": name, "mimeType": "application/zip", "buffer": content})
    page.locator("form[data-upload] button.primary").click()


def is_well(page: Page) -> None:
    assert violations(page) == []
    assert page.evaluate(SIDEWAYS) <= 0


def test_from_a_file_of_pictures_to_a_public_board(lab: Lab, sign_in: SignIn) -> None:
    page, outside = sign_in(), sign_in("")
    # A dataset with pictures of three painters becomes public once it is there
    page.goto(f"{lab.url}/datasets/new/")
    upload(page, "scenes.zip", zipped(PAINTERS, with_samples=True))
    expect(page.locator("#columns-title")).to_be_visible()
    is_well(page)
    page.fill("#id_name", "Painted scenes")
    page.select_option("#id_modality", "image")
    page.get_by_role("button", name="Read file").click()
    page.get_by_role("link", name="Set up battles").wait_for()  # a worker has read it meanwhile
    expect(page.locator(".share")).to_have_count(3)
    page.select_option("#visibility", "public")
    page.click("text=Save")
    expect(page.locator(".notice")).to_contain_text("everybody")
    slug = page.url.rstrip("/").rpartition("/")[2]
    # The campaign is watched from its first moment on
    page.goto(f"{lab.url}/battles/?dataset={slug}")
    expect(page.locator("#estimate")).to_contain_text(f"{3 * SAMPLES} battles")
    page.get_by_role("checkbox", name=PAINTERS[0]).uncheck()
    expect(page.locator("#estimate")).to_contain_text(f"{SAMPLES} battles")
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.locator("#estimate")).to_contain_text(f"{3 * SAMPLES} battles")
    options = page.locator("#id_seat-judge-model option").all_text_contents()
    assert not any("Cooperative" in option for option in options)
    page.click("#start")
    page.wait_for_url(EXPERIMENT)
    experiment = page.url
    watch_to_the_end(page, battles=3 * SAMPLES)
    # Only what is missing is judged
    page.get_by_role("link", name="Add outputs to the dataset").click()
    upload(page, "late.zip", zipped([LATE], with_samples=False))
    expect(page.locator("main")).to_contain_text(f"{LATE}: {SAMPLES} new outputs")
    page.goto(experiment)
    with page.expect_navigation():
        page.click("#resume-button")
    watch_to_the_end(page, battles=6 * SAMPLES)
    expect(page.locator(".pair-grid tbody tr")).to_have_count(4)

    # Ratings are computed in the background, soon
    def is_rated() -> bool:
        page.goto(experiment)
        return page.locator(".standing tbody tr").count() == 4

    wait_until(is_rated, "the ratings")
    page.get_by_role("link", name="Open the board").click()
    expect(page.locator("main")).to_contain_text(LATE)
    ladder = page.url
    # By keyboard; no painter is named before the vote
    page.goto(f"{lab.url}/vote/{slug}/")
    for key in "1243":
        html = page.content()
        assert not any(painter in html for painter in (*PAINTERS, LATE))
        page.keyboard.press(key)
        page.wait_for_selector("#next-pair")
        page.wait_for_load_state()  # the keys are there
        assert any(painter in page.locator("main").inner_text() for painter in (*PAINTERS, LATE))
        page.keyboard.press("n")
        page.wait_for_selector("#ballot, .problem")
        page.wait_for_load_state()
    outside.goto(f"{lab.url}/datasets/")
    outside.click("text=Painted scenes")
    outside.locator(".sample-row").nth(1).click()
    expect(outside.locator(".output img")).to_have_count(4)
    is_well(outside)
    outside.goto(f"{lab.url}/leaderboard/")
    expect(outside.locator("main")).to_contain_text("Painted scenes")
    outside.goto(ladder)
    for painter in (*PAINTERS, LATE):
        expect(outside.locator("main")).to_contain_text(painter)
    outside.goto(f"{ladder}battles/")
    outside.locator(".battle-list a[data-open]").first.click()
    outside.wait_for_url(BATTLE)
    expect(outside.locator("main img").first).to_be_visible()
    wait_until(lambda: outside.evaluate(ARE_SHOWN), "the pictures")
    assert outside.evaluate(ARE_SHARP)
    expect(outside.locator(".scores")).to_have_count(2)
    outside.locator(".duel a.picture").first.press("Enter")
    expect(outside.locator("#lightbox")).to_be_visible()
    outside.keyboard.press("Escape")
    expect(outside.locator("#lightbox")).to_be_hidden()
    # Of a board whose contestants have all won and lost
    milestones = f"{lab.url}/leaderboard/{lab.ladder}/milestones/"
    page.goto(milestones)
    page.fill("#name", "spring_20260331")
    page.locator("form.box button.primary").click()
    outside.goto(f"{milestones}?milestone=spring_20260331")
    expect(outside.locator("#compared")).to_contain_text("spring_20260331")
    expect(outside.locator("#compared ~ .scroll tbody tr").first).to_be_visible()
    is_well(outside)
    listed = lab.ask("GET", f"ladders/{lab.ladder}/milestones/")["results"]
    assert "spring_20260331" in {one["name"] for one in listed}
    # A contestant is withdrawn, and the board says why
    page.goto(f"{lab.url}/datasets/{slug}/contestants/")
    row = page.locator("article", has_text=LATE).first
    row.locator("input[name=reason]").fill("Its pictures were drawn by another painter.")
    row.locator("button[value=void]").click()
    expect(page.locator("main")).to_contain_text("Its pictures were drawn by another painter.")

    def is_told() -> bool:
        outside.goto(ladder)
        return outside.get_by_text("Its pictures were drawn by another painter.").count() > 0

    wait_until(is_told, "the reason on the board")
    expect(outside.locator("table").first.locator("tbody")).not_to_contain_text(LATE)
    is_well(outside)


def watch_to_the_end(page: Page, *, battles: int) -> None:
    """The figures move by themselves, and only forwards."""
    page.evaluate(WATCH)
    page.evaluate("window.isSame = true")
    expect(page.locator("#status")).to_have_attribute("data-state", "completed")
    assert page.evaluate("window.isSame")
    counts = [int(text.split()[0].replace(",", "")) for text in page.evaluate("window.seen")]
    assert counts == sorted(counts)
    assert counts[-1] == battles
    expect(page.locator(".latest a")).not_to_have_count(0)
    expect(page.locator("#announcer")).to_contain_text("completed")
    expect(page.locator("#stop-button")).to_have_count(0)
    expect(page.locator(".campaign-progress")).not_to_contain_text("under way")
    expect(page.locator(".campaign-trouble")).not_to_contain_text("Nothing was missing")


def answer_with(page: Page, status: int) -> None:
    """As a proxy does that stands before the platform."""
    answer = {"status": status, "body": "<h1>No</h1>", "content_type": "text/html"}
    page.route("**/datasets/new/", lambda route: route.fulfill(**answer))


def test_a_file_that_cannot_be_read_says_why_and_one_that_is_not_taken_can_be_sent_again(
    lab: Lab, sign_in: SignIn, tmp_path: Path
) -> None:
    (tmp_path / "bad.zip").write_bytes(b"no zip")
    page = sign_in()
    page.goto(f"{lab.url}/datasets/new/")
    page.set_input_files("#id_file", str(tmp_path / "bad.zip"))
    for status, words in ((413, "larger than the server allows"), (502, "refused it (502)")):
        answer_with(page, status)
        page.click("main button.primary")
        expect(page.locator("[data-sent]")).to_contain_text(words)
        expect(page.locator("main button.primary")).to_be_enabled()
    page.unroute("**/datasets/new/")

    page.click("main button.primary")
    expect(page.locator(".box.failure")).to_contain_text("bad.zip is not a valid zip archive")
    is_well(page)
