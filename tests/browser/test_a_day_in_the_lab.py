"""One story from an invitation to a public page: everything by the pages, each person in a browser of their own."""

import re
import time

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Lab, SignIn, violations

pytestmark = [pytest.mark.browser, pytest.mark.system]

PASSWORD = "four plain words together"
TALKER = "sim/cooperative:first=0:tps=0"
ITEMS = 10
PERIOD = 30  # seconds that a code is good for


def code_of(secret: str) -> str:
    """What an authenticator app would show, early enough in its period to be typed."""
    while time.time() % PERIOD > PERIOD / 2:
        time.sleep(0.2)
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // PERIOD)))


def test_from_an_invitation_to_a_public_page(lab: Lab, sign_in: SignIn, browser: Browser) -> None:
    address = ("--base-url", lab.paced.base_url, "--allow-private", "--model", TALKER)
    lab.manage("add_provider", "--name", "story", *address)

    admin = sign_in("admin")
    link = invite(lab, admin)
    mia = join(browser, link)
    with_second_factor(lab, mia)
    add_key(lab, mia)

    limit_tokens(lab, admin, "mia", 8_000)
    run = run_until_it_stops(lab, mia)
    limit_tokens(lab, admin, "mia", 4_000_000)
    goes_on(mia, run)

    queue = make_queue(lab, mia)
    review_by_keyboard(mia)
    see_agreement(lab, mia, queue)

    show_to_the_lab(mia, run)
    publish(admin, run)
    read_signed_out(browser, run)
    mia.context.close()


def invite(lab: Lab, admin: Page) -> str:
    admin.goto(f"{lab.url}/people/")
    admin.select_option("#id_role", "researcher")
    admin.click("text=Make the invitation")
    return admin.input_value("#new-link")


def join(browser: Browser, link: str) -> Page:
    mia = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    mia.goto(link)
    mia.fill("#id_username", "mia")
    mia.fill("#id_password1", PASSWORD)
    mia.fill("#id_password2", PASSWORD)
    mia.click("main button.primary")
    mia.wait_for_url(re.compile("/arena/"))
    return mia


def with_second_factor(lab: Lab, mia: Page) -> None:
    """An authenticator app is set up, and asked for at the next sign-in."""
    mia.goto(f"{lab.url}/account/second-factor/totp/activate/")
    mia.fill("#id_password", PASSWORD)  # asked for again, because nobody has signed in with it yet
    mia.click("main button.primary")
    secret = mia.input_value("#secret")
    assert violations(mia) == []
    mia.fill("#id_code", code_of(secret))
    mia.click("main button.primary")
    expect(mia.locator(".codes li")).to_have_count(10)

    mia.locator("form[action='/sign-out/'] button").first.click()
    mia.fill("#id_username", "mia")
    mia.fill("#id_password", PASSWORD)
    mia.click("main button.primary")
    mia.wait_for_url(re.compile("/second-factor/authenticate/"))
    mia.fill("#id_code", code_of(secret))
    mia.click("main button.primary")
    mia.wait_for_url(re.compile("/arena/"))


def add_key(lab: Lab, mia: Page) -> None:
    secret = "sk-story-0123456789abcdef"
    mia.goto(f"{lab.url}/account/keys/")
    mia.select_option("#id_provider", label="story")
    mia.fill("#id_key", secret)
    mia.click("text=Store the key")
    card = mia.locator(".card", has_text="story")
    expect(card).to_contain_text("…cdef")
    card.get_by_role("button", name="Test").click()
    expect(card).to_contain_text("accepted")
    assert secret not in mia.content()


def limit_tokens(lab: Lab, admin: Page, name: str, tokens: int) -> None:
    admin.goto(f"{lab.url}/lab/budgets/")
    admin.select_option("#id_subject", label=name)
    admin.fill("#id_tokens", str(tokens))
    admin.click("main button.primary")
    expect(admin.locator(".budget-list")).to_contain_text(name)


def run_until_it_stops(lab: Lab, mia: Page) -> str:
    mia.goto(f"{lab.url}/arena/")
    for seat in "AB":
        mia.select_option(f"[name=seat-{seat}-model]", TALKER)
    mia.fill("[name=prompt]", "Share seven solar panels between two villages.")
    mia.fill("#id_max_turns", str(ITEMS // 2))
    mia.click("main button.primary")
    mia.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}/"))
    expect(mia.locator("#ending")).to_contain_text("budget")
    assert 0 < mia.locator("#transcript article.message").count() < ITEMS
    assert violations(mia) == []
    return mia.url.split("?")[0]


def goes_on(mia: Page, run: str) -> None:
    mia.goto(run)
    mia.get_by_role("button", name="Resume").click()
    expect(mia.locator("#transcript article.message")).to_have_count(ITEMS)
    expect(mia.locator("#ending")).to_contain_text("Completed")


def make_queue(lab: Lab, mia: Page) -> str:
    mia.goto(f"{lab.url}/review/new/")
    mia.fill("#id_name", "What Mia's models did")
    mia.fill("#id_members", "mia")
    mia.select_option("#id_rubric", label="A turn of the arena v1")
    mia.click("text=Make the queue")
    expect(mia.locator("h1")).to_have_text("What Mia's models did")
    return mia.url


def review_by_keyboard(mia: Page) -> None:
    """Both scales and a label of every item; then the next one."""
    mia.locator("#next-pair").focus()
    mia.keyboard.press("Enter")
    for number in range(1, ITEMS + 1):
        expect(mia.locator("#review[data-script] h1")).to_have_text(f"Item {number}")  # keys work from then on
        for key in ("4" if number % 2 else "2", "1", "m", "n"):
            mia.keyboard.press(key)
    expect(mia.locator("h1")).to_have_text("What Mia's models did")


def see_agreement(lab: Lab, mia: Page, queue: str) -> None:
    mia.get_by_role("link", name="Agreement").click()
    expect(mia.get_by_role("region", name="Judge and people")).to_contain_text(str(ITEMS))
    assert violations(mia) == []


def show_to_the_lab(mia: Page, run: str) -> None:
    mia.goto(run)
    mia.get_by_role("link", name="Experiment").click()
    mia.locator("a[href$='/sharing/']").first.click()
    mia.check("[value=lab]")
    mia.click("main button.primary")
    expect(mia.locator("[value=lab]")).to_be_checked()


def publish(admin: Page, run: str) -> None:
    """Approved first: what nobody has approved is not published."""
    admin.goto(f"{run}curation/")
    admin.get_by_role("button", name="Approve").click()
    expect(admin.get_by_role("button", name="Take the approval back")).to_be_visible()
    admin.get_by_role("button", name="Publish").click()
    expect(admin.locator("main")).to_contain_text("Show to the lab alone")


def read_signed_out(browser: Browser, run: str) -> None:
    page = browser.new_context().new_page()
    page.goto(run)
    expect(page.locator("#transcript article.message")).to_have_count(ITEMS)
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    assert violations(page) == []
    page.context.close()
