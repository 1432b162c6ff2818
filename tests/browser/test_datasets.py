"""A dataset of pictures: from a file over its columns to its pages, which visitors see once it is public."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Lab, SignIn, violations
from tests.experiments.datasets.files import packed, png, table

pytestmark = [pytest.mark.browser, pytest.mark.system]

NARROW = {"width": 360, "height": 740}
SHADES = ("red", "green", "blue")


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A table with pictures of its own, and two contestants' pictures."""
    rows = [{"index": n, "instruction": f"Draw scene {n}", "image": f"given/{n}.png"} for n in range(3)]
    files = {"data.csv": table(rows)}
    for number, shade in enumerate(SHADES):
        files[f"given/{number}.png"] = png(shade, (160, 120))
        files[f"models/careful/{number}.png"] = png(shade, (160, 120))
        if number:
            files[f"models/hasty/{number}.png"] = png("grey", (160, 120))
    return packed(tmp_path / "scenes.zip", files)


def is_well(page: Page) -> None:
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_a_dataset_is_uploaded_looked_at_and_published(
    lab: Lab, sign_in: SignIn, browser: Browser, pictures: Path
) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/datasets/new/")
    is_well(page)
    page.set_input_files("#id_file", str(pictures))
    page.click("main button.primary")
    expect(page.locator("#columns-title")).to_be_visible()
    is_well(page)
    page.set_viewport_size(NARROW)
    is_well(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.fill("#id_name", "Scenes")
    page.click("main button.primary")

    expect(page.locator("#contestants")).to_be_visible()  # a worker has read it meanwhile
    expect(page.locator(".share")).to_have_count(2)
    expect(page.locator(".share").nth(1)).to_contain_text("2 of 3")
    here = page.url
    page.emulate_media(color_scheme="dark")
    is_well(page)
    page.locator(".sample-row").first.click()
    expect(page.locator(".output img")).to_have_count(1)
    assert page.evaluate("document.querySelector('.output img').naturalWidth") == 160
    is_well(page)
    for path in ("contestants/", "outputs/", "samples/"):
        if path != "samples/":
            page.goto(f"{here}{path}")
        page.set_viewport_size(NARROW)
        is_well(page)
    page.goto(here)
    is_well(page)
    page.select_option("#visibility", "public")
    page.click("text=Save")
    expect(page.locator(".notice")).to_contain_text("everybody")

    visitor = browser.new_context(viewport=NARROW).new_page()
    visitor.goto(f"{lab.url}/datasets/")
    is_well(visitor)
    visitor.click("text=Scenes")
    visitor.locator(".sample-row").nth(1).click()
    expect(visitor.locator(".output img")).to_have_count(2)
    is_well(visitor)
    visitor.context.close()


def test_a_file_that_cannot_be_read_says_why(lab: Lab, sign_in: SignIn, tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"no zip")
    page = sign_in()
    page.goto(f"{lab.url}/datasets/new/")
    page.set_input_files("#id_file", str(tmp_path / "bad.zip"))
    page.click("main button.primary")

    expect(page.locator(".box.failure")).to_contain_text("bad.zip is not a zip archive")
    is_well(page)


@pytest.mark.parametrize(("status", "words"), [(413, "larger than the server takes"), (502, "did not take it (502)")])
def test_where_something_else_refuses_a_file_it_is_said(
    lab: Lab, sign_in: SignIn, tmp_path: Path, status: int, words: str
) -> None:
    (tmp_path / "samples.jsonl").write_text('{"prompt": "Draw."}')
    page = sign_in()
    page.goto(f"{lab.url}/datasets/new/")
    page.set_input_files("#id_file", str(tmp_path / "samples.jsonl"))
    answer = {"status": status, "body": "<h1>No</h1>", "content_type": "text/html"}
    page.route("**/datasets/new/", lambda route: route.fulfill(**answer))
    page.click("main button.primary")

    expect(page.locator("[data-sent]")).to_contain_text(words)
    expect(page.locator("main button.primary")).to_be_enabled()
