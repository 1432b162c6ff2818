"""A debate of two people and a model, on three browsers; and the public arena as a visitor meets it."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import QUICK, SIDEWAYS, Lab, OpenPage, SignIn, violations
from tests.browser.test_accessible import MOST_SHIFT, SHIFT

REQUEST = "How should our lab share one telescope between five groups?"


def answers(page: Page, words: str) -> None:
    expect(page.locator("#seat-time [data-clock]")).to_be_visible()
    page.get_by_label("New perspectives").fill(f"{words}\n{words} by lot.")
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_text("Your answer is sent.")).to_be_visible()


def fits(page: Page) -> None:
    for width in (1440, 360):
        page.set_viewport_size({"width": width, "height": 900})
        assert (page.evaluate(SIDEWAYS) <= 0, violations(page)) == (True, []), width


def test_two_people_and_a_model_debate_on_three_browsers(lab: Lab, sign_in: SignIn, open_page: OpenPage) -> None:
    owner = sign_in()
    # Debaters A and B are people: a user, and whoever has the invitation link
    owner.goto(f"{lab.url}/debate/")
    owner.fill("#id_prompt", REQUEST)
    owner.get_by_label("Automatic").check()
    for seat in ("C", "summarizer"):
        owner.locator(f"#id_seat-{seat}-model").select_option(QUICK[2], force=True)
    owner.locator("summary", has_text="Refiner").click()
    owner.locator("#id_refine").uncheck()
    owner.locator("summary", has_text="People").click()
    for place, (seat, who) in enumerate({"A": "speaker", "B": ""}.items()):
        owner.locator("#id_people [data-add]").click()
        row = owner.locator("#id_people [data-row]").nth(place)
        row.get_by_label("Participant").select_option(seat)
        row.get_by_label("Person").select_option(who)
        row.get_by_label("Minutes").fill("15")
    owner.get_by_role("button", name="Start run").click()
    people = owner.locator(".people-panel")
    expect(people).to_contain_text("speaker · asked now")
    expect(owner.locator("#status")).to_contain_text("waits for a person")
    link = people.get_by_role("link", name="Invitation link").get_attribute("href")

    guest = open_page()
    guest.goto(f"{lab.url}{link}")
    expect(guest.get_by_text("Nothing to answer now")).to_be_visible()

    speaker = sign_in("speaker")
    speaker.goto(f"{lab.url}/notifications/")
    speaker.get_by_role("link", name="Your answer is needed").click()
    expect(speaker.get_by_role("heading", name="What you are asked")).to_be_visible()
    expect(speaker.locator(".seat-shown", has_text="telescope").first).to_be_visible()
    fits(speaker)
    answers(speaker, "Share it by the night")

    answers(guest, "Share it by need")  # its page has found the turn by itself
    expect(owner.locator("#slot-round-1")).to_contain_text("Share it by need by lot.")
    expect(owner.locator("#slot-round-1")).to_contain_text("a person: speaker")
    expect(owner.locator("#status")).to_have_attribute("data-state", "completed")
    expect(guest.get_by_text("The run has ended.")).to_be_visible()
    fits(guest)
    fits(owner)


def test_a_visitor_asks_two_models_votes_and_reads_the_names(lab: Lab, open_page: OpenPage) -> None:
    page = open_page(viewport={"width": 360, "height": 768})
    sockets: list[str] = []
    asked: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/news/") else None)
    page.goto(f"{lab.url}/")
    page.get_by_role("link", name="Try the arena").click()
    page.get_by_label("Your prompt").fill("Share seven solar panels between two villages.")
    page.get_by_role("button", name="Ask two models").click()

    answers, tie = page.locator(".live-answer"), page.get_by_role("button", name="Tie")
    expect(tie).to_be_disabled()
    expect(answers.first).to_have_text(re.compile(r"\w+ \w+"))
    expect(tie).to_be_enabled()
    assert ["/ws/public-arena/" in url for url in sockets] == [True], "answers come over one socket"
    assert not asked
    assert page.evaluate(SHIFT) <= MOST_SHIFT
    fits(page)
    assert "sim/" not in page.content()

    page.keyboard.press("3")
    expect(page.get_by_role("heading", level=1)).to_contain_text("equally good")
    names = [title.rpartition(" · ")[2] for title in page.locator(".side h2").all_inner_texts()]
    assert len(set(names)) == 2
    fits(page)
    page.get_by_role("link", name="The board of votes").click()
    for name in names:
        expect(page.get_by_role("rowheader", name=name)).to_be_visible()
