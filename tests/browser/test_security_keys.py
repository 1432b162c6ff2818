"""A security key, as Chromium plays one: added on the account page, then asked for at the door."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PASSWORD, Lab, SignIn, violations

pytestmark = [pytest.mark.browser, pytest.mark.system]

KEY = {
    "protocol": "ctap2",
    "transport": "usb",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def test_a_security_key_is_added_and_opens_the_door(lab: Lab, sign_in: SignIn) -> None:
    made = f"from accounts.models import User; User.objects.create_user('keeper', password='{PASSWORD}')"
    lab.manage("shell", "-c", made)
    page = sign_in("keeper")
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})

    page.goto(f"{lab.url}/account/second-factor/webauthn/add/")
    page.click("#add-key")
    page.wait_for_url(f"{lab.url}/account/second-factor/recovery-codes/")
    expect(page.locator(".codes li")).to_have_count(10)
    assert violations(page) == []

    page.locator("form[action='/sign-out/'] button").first.click()
    page.fill("#id_username", "keeper")
    page.fill("#id_password", PASSWORD)
    page.click("main button.primary")
    page.wait_for_url(f"{lab.url}/account/second-factor/authenticate/")
    assert violations(page) == []
    page.click("#use-key")
    page.wait_for_url(f"{lab.url}/arena/")
