"""The picker of models: a model is found by typing, and made a favorite by keyboard and by mouse."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import Lab, SignIn, violations

MODEL = "Simulated · Drifting"
IS_INSIDE = """popup => {
  const bottom = (one) => one.getBoundingClientRect().bottom;
  return bottom(popup.querySelector("[role=listbox]")) < bottom(popup);
}"""


def test_a_model_is_made_a_favorite_and_stands_first_from_then_on(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/arena/")
    picked, popup = page.locator("model-picker:has([name=seat-A-model]) > button"), page.locator(".picker-popup")
    search, favorites = page.get_by_role("combobox", name="Search models"), page.get_by_role("group", name="Favorites")
    starred = page.get_by_role("option", name=re.compile(f"^{MODEL}.*Favorite$"))
    picked.click()
    search.fill("drifting simulated")
    assert popup.evaluate(IS_INSIDE)
    search.press("Control+d")
    expect(starred).to_have_count(1)
    expect(popup.get_by_role("status")).to_contain_text(MODEL)
    assert violations(page) == []
    search.press("Enter")
    expect(picked).to_contain_text(MODEL)

    page.reload()
    picked.click()
    expect(page.get_by_role("listbox").get_by_role("group").first).to_have_accessible_name("Favorites")
    assert violations(page) == []
    favorites.locator(".picker-star").click()
    expect(starred).to_have_count(0)
    search.press("Escape")
    picked.click()
    expect(favorites).to_have_count(0)
    expect(page.get_by_role("group", name="Recently used").get_by_role("option", name=MODEL)).to_have_count(1)
