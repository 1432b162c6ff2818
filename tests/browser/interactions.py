"""What a person does on the pages is counted in the browser, so that nothing goes past the count."""

from dataclasses import dataclass

from playwright.sync_api import Locator, Page

COUNTING = """
const count = (name) => sessionStorage.setItem(name, 1 + Number(sessionStorage.getItem(name)));
addEventListener("pointerdown", (event) => event.isTrusted && count("clicks"), true);
addEventListener("keydown", (event) => event.isTrusted && count("keys"), true);
addEventListener("input", (event) => event.inputType && count("texts"), true);
"""
COUNTED = "['clicks', 'keys', 'texts'].map((name) => Number(sessionStorage.getItem(name)))"
IS_FOCUSED = "field => field === document.activeElement"


@dataclass(frozen=True)
class Count:
    """keys: that were pressed. texts: that were written into a field at once."""

    clicks: int
    keys: int
    texts: int


class Newcomer:
    """Somebody at a page; what they do counts from the next page on that is opened."""

    def __init__(self, page: Page) -> None:
        page.add_init_script(f"{{{COUNTING}}}")
        self.page = page

    def write(self, field: Locator, text: str) -> None:
        """A click comes first where the cursor is elsewhere."""
        if not field.evaluate(IS_FOCUSED):
            field.click()
        self.page.keyboard.insert_text(text)

    @property
    def count(self) -> Count:
        return Count(*self.page.evaluate(COUNTED))
