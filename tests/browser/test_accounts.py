"""From an invitation to a public page, each person in their own browser; a security key as Chromium plays it."""

import re
import time

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import expect

from tests.browser.conftest import QUICK, RUN, Lab, SignIn, give_password, sign_out, violations
from tests.fixtures import wait_until

OWN_PASSWORD = "four plain words together"
TALKER = f"{QUICK[0]}:words=60"
MESSAGES = "#transcript article.message"
TURNS = 2
PERIOD = 30  # seconds that a code is good for; one period late it still is
KEY = {"protocol": "ctap2", "transport": "usb"}
KEY |= dict.fromkeys(("hasResidentKey", "hasUserVerification", "isUserVerified", "automaticPresenceSimulation"), True)


def code_of(secret: str) -> str:
    """What an authenticator app shows."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // PERIOD)))


def test_the_terminal_of_a_demonstration_says_how_to_sign_in_and_names_a_run_of_each_workflow(lab: Lab) -> None:
    output = lab.platform.output
    named = dict(re.findall(rf"{lab.url}/(?:runs|experiments)/(\S+)/  (\w+)$", output, re.MULTILINE))

    assert "Sign in   researcher, reviewer or admin, password arena-demo-only\n" in output
    assert list(named.values()) == ["arena", "starchamber", "council", "debate", "battles", "coding"]
    [played] = [run for run, workflow in named.items() if workflow == "arena"]
    wait_until(lambda: lab.call_text(played), "the first words")


def test_from_an_invitation_to_a_public_page(lab: Lab, sign_in: SignIn) -> None:
    admin, mia = sign_in("admin", anew=True), sign_in("")
    admin.goto(f"{lab.url}/people/")
    admin.select_option("#id_role", "researcher")
    admin.click("text=Create invitation")
    link = admin.input_value("#new-link")
    mia.goto(link)
    mia.fill("#id_username", "mia")
    mia.fill("#id_password1", OWN_PASSWORD)
    mia.fill("#id_password2", OWN_PASSWORD)
    mia.click("main button.primary")
    mia.wait_for_url(re.compile(r":\d+/$"))
    # An authenticator app is set up, and asked for at the next sign-in
    mia.goto(f"{lab.url}/account/second-factor/totp/activate/")
    mia.fill("#id_password", OWN_PASSWORD)  # asked for again, because nobody has signed in with it yet
    mia.click("main button.primary")
    secret = mia.input_value("#secret")
    assert violations(mia) == []
    mia.fill("#id_code", code_of(secret))
    mia.click("main button.primary")
    expect(mia.locator(".codes li")).to_have_count(10)

    sign_out(mia)
    give_password(mia, "mia", OWN_PASSWORD)
    mia.wait_for_url(re.compile("/second-factor/authenticate/"))
    mia.fill("#id_code", code_of(secret))
    mia.click("main button.primary")
    mia.wait_for_url(f"{lab.url}/")
    secret = "sk-story-0123456789abcdef"
    mia.goto(f"{lab.url}/account/keys/")
    mia.select_option("#id_provider", label="story")
    mia.fill("#id_key", secret)
    mia.click("text=Store key")
    card = mia.locator(".card", has_text="story")
    expect(card).to_contain_text("…cdef")
    card.get_by_role("button", name="Test").click()
    expect(card).to_contain_text("accepted")
    assert secret not in mia.content()

    # A run of hers, to its end
    mia.goto(f"{lab.url}/arena/")
    for seat in "AB":
        mia.select_option(f"[name=seat-{seat}-model]", TALKER)
    mia.fill("[name=prompt]", "Share seven solar panels between two villages.")
    mia.fill("#id_max_turns", str(TURNS))
    mia.click("main button.primary")
    mia.wait_for_url(RUN)
    expect(mia.locator("#ending")).to_contain_text("Completed")
    run = mia.url.split("?")[0]
    mia.locator(".run-links .more-menu > summary").click()
    mia.locator(".run-links a[href$='/sharing/']").click()
    mia.check("[value=lab]")
    mia.click("main button.primary")
    expect(mia.locator("[value=lab]")).to_be_checked()
    # Approved first: what nobody has approved is not published
    admin.goto(f"{run}curation/")
    admin.get_by_role("button", name="Approve", exact=True).click()
    expect(admin.get_by_role("button", name="Withdraw approval")).to_be_visible()
    admin.get_by_role("button", name="Publish", exact=True).click()
    expect(admin.locator("main")).to_contain_text("Show to the lab only")
    outside = sign_in("")
    outside.goto(run)
    expect(outside.locator(MESSAGES)).to_have_count(2 * TURNS)
    expect(outside.get_by_role("link", name="Sign in")).to_be_visible()
    assert violations(outside) == []


def test_a_security_key_is_added_and_opens_the_door(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in("keeper", anew=True)
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})

    page.goto(f"{lab.url}/account/second-factor/webauthn/add/")
    page.click("#add-key")
    page.wait_for_url(f"{lab.url}/account/second-factor/recovery-codes/")
    expect(page.locator(".codes li")).to_have_count(10)
    assert violations(page) == []

    sign_out(page)
    give_password(page, "keeper")
    page.wait_for_url(f"{lab.url}/account/second-factor/authenticate/")
    assert violations(page) == []
    page.click("#use-key")
    page.wait_for_url(f"{lab.url}/")
