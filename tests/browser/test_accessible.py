"""axe-core finds nothing on any page, wide or narrow, in both themes and languages; nothing scrolls sideways or jumps,
a run begins with its words, and every page leads on.

Every other page is looked at in the first of two views, the rest in the second; in the exhaustive tests all in
every view.
"""

from collections.abc import Sequence

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import LATE, QUICK, SIDEWAYS, Lab, SignIn, violations

WIDE, NARROW, BETWEEN = 1440, 360, (768, 1024)
VIEWS = ((WIDE, "light", "en"), (NARROW, "dark", "zh-hans"))
ALL_VIEWS = (*VIEWS, (1024, "dark", "en"), (NARROW, "light", "en"), (WIDE, "dark", "zh-hans"))
OPEN = "document.querySelectorAll('main details:not(.exports)').forEach((one) => (one.open = !one.matches('.table')))"
HEADER_LINES = """() => new Set([...document.querySelectorAll('.site a, .site button')]
  .map((one) => one.getBoundingClientRect()).filter((box) => box.width > 1)
  .map((box) => Math.round((box.top + box.bottom) / 12))).size"""
BROKEN_CELLS = """() => [...document.querySelectorAll('.rows :is(td, th)')]
  .filter((one) => one.clientWidth && one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent.trim())"""
SHIFT = """() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value;
  }).observe({ type: "layout-shift", buffered: true });
  requestIdleCallback(() => setTimeout(() => resolve(sum), 100));
})"""
MOST_SHIFT = 0.05
FIRST_WORDS = "document.querySelector('#transcript article')?.getBoundingClientRect().top + scrollY"
PHONE = {"width": 390, "height": 844}
LEADS_ON = "document.querySelector('main a[href], main button:not(:disabled), nav.crumbs a') !== null"
TALLEST_ROW = """() => Math.max(...[...document.querySelectorAll('.rows tbody tr')].map((one) => one.offsetHeight))"""

in_views = pytest.mark.parametrize(
    "in_all", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["one view", "all views"]
)

OF_VISITORS = (
    *("", "help/", "help/api/", "help/?q=budget"),
    *("sign-in/", "sign-up/", "forgotten/", "invitations/forged/", "leaderboard/", "leaderboard/methodology/"),
    *("datasets/", "public-arena/"),
)
OF_LADDERS = ("", "?subset=easy&search=nobody", "?unseen=1&sort=unseen", "matrix/", "history/", "milestones/")
OF_RESEARCHERS = (
    *("", "notifications/"),
    *("arena/", "council/", "debate/", "coding/", "starchamber/", "battles/", "runs/", "runs/import/", "projects/"),
    *("account/", "account/keys/", "account/webhooks/", "models/", "usage/", "exports/", "battles/import/"),
    *("search/?q=panels&state=ended", "review/", "review/new/", "review/rubrics/", "review/rubrics/new/"),
    *("scan/", "instruments/", "instruments/new/", "instruments/?archived=1", "studies/"),
    *("vote/", "vote/demo-answers/", "vote/mine/", "nowhere/", "datasets/new/", "datasets/demo-answers/"),
    *(
        f"datasets/demo-answers/{part}/"
        for part in ("contestants", "variants", "outputs", "outputs/make", "battles/import")
    ),
)
OF_ADMINS = (
    *("", "lab/public-arena/"),
    *("people/", "people/1/", "audit/", "account/", "projects/new/", "lab/keys/", "lab/budgets/", "operator/"),
    *("account/email/", "account/password/", "account/second-factor/", "account/second-factor/totp/activate/"),
)


def too_wide(page: Page) -> list[str]:
    """What of an open page does not fit windows between a phone's and a large one's."""
    found = []
    for width in BETWEEN:
        page.set_viewport_size({"width": width, "height": 800})
        if (sideways := page.evaluate(SIDEWAYS)) > 0:
            found.append(f"scrolls sideways by {sideways} px at {width} px")
        if page.evaluate(HEADER_LINES) > 1:
            found.append(f"the header has too many lines at {width} px")
    page.set_viewport_size({"width": WIDE, "height": 800})
    return found


def complaints(lab: Lab, page: Page, addresses: Sequence[str], *, in_all: bool) -> dict[str, list[str]]:
    """What is wrong with each of these pages."""
    found = {}
    for number, (width, theme, language) in enumerate(ALL_VIEWS if in_all else VIEWS):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=theme)
        page.context.add_cookies([{"name": "arena_language", "value": language, "url": lab.url}])
        for address in addresses if in_all else addresses[number::2]:
            page.goto(f"{lab.url}/{address}")
            expect(page.locator("main")).to_be_visible()
            shift, below_the_middle = page.evaluate(SHIFT), 0
            if page.locator("#transcript article").count():
                window = PHONE if width == NARROW else {"width": width, "height": 800}
                page.set_viewport_size(window)
                below_the_middle = round(page.evaluate(FIRST_WORDS) - window["height"] / 2)
                page.set_viewport_size({"width": width, "height": 800})
            page.evaluate(OPEN)
            wrong = violations(page, whole=in_all)
            if shift > MOST_SHIFT:
                wrong.append(f"shifts by {shift:.3f}")
            if below_the_middle > 0:
                wrong.append(f"begins {below_the_middle} px below the middle of the window")
            if not page.evaluate(LEADS_ON):
                wrong.append("leads nowhere")
            if (sideways := page.evaluate(SIDEWAYS)) > 0:
                wrong.append(f"scrolls sideways by {sideways} px")
            if page.evaluate(HEADER_LINES) > 1:
                wrong.append("the header has too many lines")
            wrong += too_wide(page) if width == WIDE else []
            if wrong:
                found[f"{address} {width} {page.title()}"] = wrong
    return found


@pytest.fixture
def stages(lab: Lab) -> list[str]:
    """Pages of runs of every kind, and at every stage of them."""
    asked = {"prompt": "How should our lab share one telescope?"}
    seats = dict(zip(("A", "B", "C", "refiner", "summarizer"), (*QUICK, QUICK[0]), strict=True))
    lab.scripted.answers[LATE] = [404]
    judged, manual = lab.start(), lab.start(mode="manual", max_turns=3)
    [council] = lab.begin(
        "council", {"member-1": QUICK[0], "member-2": QUICK[1], "chair": QUICK[2]}, {"question": "Why is the sky blue?"}
    )
    [prompted], [failed], [concluded] = (
        lab.begin("debate", {**seats, "B": b}, asked) for b in (QUICK[1], LATE, QUICK[1])
    )
    [limited] = lab.begin("debate", seats, {**asked, "mode": "automatic", "limits": {"tokens": 300}})
    [talk] = lab.begin("starchamber", {"model": QUICK[0]}, {"first_message": "Who are you?", "persona": "Inspector"})
    battles = lab.begin(  # none, where another view has had them judged
        "battles",
        {"judge": "sim/judge"},
        {"dataset": "demo-answers", "prompt": "text_quality", "sampling": {"plan": "sample", "per_pair": 1}},
    )
    for action, text in (("send", ""), ("round", "It must be cheap."), ("summarize", "")):
        lab.say(concluded, action, text)
    lab.say(failed, "send")
    lab.say(talk, "regenerate")
    lab.say(talk, "send", "And then?")
    for _pause in range(4):
        lab.say(manual)
    for run in (judged, limited, *battles[:1]):
        lab.wait_for(run, "ended")
    for run in (council, prompted):
        lab.wait_for(run, "waiting_for", "offer")
    tokens = next(one for one in lab.ask("GET", f"runs/{talk}/messages/")["results"] if one["seat"] == "model")
    call = lab.ask("GET", f"runs/{judged}/calls/")["results"][0]["id"]
    runs = (judged, manual, council, prompted, failed, concluded, limited, talk, *battles[:1])
    return [
        *(f"runs/{run}/" for run in runs),
        *(f"runs/{judged}/flags/", f"runs/{judged}/curation/", f"calls/{call}/", f"runs/{manual}/judge/"),
        f"runs/{council}/ranking/1/",
        *(f"experiments/{lab.ask('GET', f'runs/{run}/')['experiment']}/" for run in battles[:1]),
        f"messages/{tokens['id']}/tokens/",
    ]


@pytest.fixture
def repeated(lab: Lab) -> list[str]:
    """The page of an experiment with repeats that take turns, a branch and a branch of it; and two runs compared."""
    config = {"prompt": "Share.", "gap_seconds": 0, "max_turns": 3, "counterbalance": True, "filter": False}
    runs = lab.begin("arena", {"A": QUICK[3], "B": QUICK[1]}, config, repeats=4, seed=1)
    for run in runs:
        lab.wait_for(run, "ended")
    said = lab.ask("GET", f"runs/{runs[0]}/messages/")["results"][2]
    text = said["raw_text"].replace(" the ", " all the ", 3) + " And not one panel less."
    child = lab.ask("POST", f"messages/{said['id']}/branch/", {"text": text})["id"]
    lab.wait_for(child, "ended")
    later = lab.ask("GET", f"runs/{child}/messages/")["results"][4]
    lab.wait_for(lab.ask("POST", f"messages/{later['id']}/branch/", {})["id"], "ended")
    experiment = lab.ask("GET", f"runs/{child}/")["experiment"]
    return [f"experiments/{experiment}/?with=branch", f"runs/compare/?run={runs[0]}&run={child}"]


@pytest.fixture
def of_others(lab: Lab) -> list[str]:
    """A webhook that was told something in vain, and the demonstration's queue of reviews."""
    asked = {"url": f"https://receiver.invalid/{'in/' * 30}", "events": ["run.completed", "run.failed"]}
    hook = lab.ask("POST", "webhooks/", asked)["id"]
    lab.ask("POST", f"webhooks/{hook}/test/", {})
    queue = lab.ask("GET", "review/queues/")["results"][-1]["id"]
    item = lab.ask("GET", f"review/queues/{queue}/items/")["results"][0]["id"]
    return [f"webhooks/{hook}/", f"review/{queue}/", f"review/{queue}/agreement/", f"review/items/{item}/"]


@in_views
def test_pages_for_everybody(lab: Lab, sign_in: SignIn, in_all: bool) -> None:
    ladders = [f"leaderboard/{lab.ladder}/{part}" for part in OF_LADDERS]

    assert complaints(lab, sign_in(""), (*OF_VISITORS, *ladders), in_all=in_all) == {}


@in_views
def test_pages_of_researchers(
    lab: Lab, sign_in: SignIn, stages: list[str], repeated: list[str], of_others: list[str], in_all: bool
) -> None:
    page = sign_in()
    [ladder, *_others] = [one["slug"] for one in lab.ask("GET", "ladders/")["results"] if "demo-answers" in one["slug"]]
    lists = [f"leaderboard/{ladder}/battles/", f"leaderboard/{ladder}/samples/", "datasets/demo-pictures/"]
    entries = []
    for address in lists:
        page.goto(f"{lab.url}/{address}")
        first = page.locator("a[data-open], a.sample-row").first
        entries.append(str(first.get_attribute("href")).lstrip("/"))

    addresses = (*OF_RESEARCHERS, *stages, *repeated, *of_others, *lists[:2], *entries)
    assert complaints(lab, page, (*addresses, f"leaderboard/{ladder}/agreement/"), in_all=in_all) == {}


@in_views
def test_pages_of_reviewers_and_curators(lab: Lab, sign_in: SignIn, of_others: list[str], in_all: bool) -> None:
    _webhook, queue, _agreement, item = of_others
    addresses = ("", "review/", "notifications/", "account/", "vote/", queue, item)
    assert complaints(lab, sign_in("reviewer"), addresses, in_all=in_all) == {}

    run = lab.start(max_turns=2)
    lab.wait_for(run, "ended")
    lab.ask("POST", f"runs/{run}/curation/", {"deed": "submit"})
    runs = (f"review/runs/{part}" for part in ("", f"{run}/", "?show=all"))
    addresses = ("", *runs, "review/", "review/public-arena/")
    assert complaints(lab, sign_in("curator"), addresses, in_all=in_all) == {}


@in_views
def test_pages_of_admins(lab: Lab, sign_in: SignIn, in_all: bool) -> None:
    page = sign_in("admin", anew=True)
    assert complaints(lab, page, OF_ADMINS, in_all=in_all) == {}

    page.locator(".account-menu summary").click()
    expect(page.locator(".account-menu a").last).to_be_visible()
    assert violations(page) == []
    for path in ("audit/", "models/"):
        page.goto(f"{lab.url}/{path}")
        for width, tallest in ((360, 280), (1024, 130), (1440, 130)):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(SIDEWAYS) <= 0, (path, width)
            assert page.evaluate(BROKEN_CELLS) == [], (path, width)
            assert page.evaluate(TALLEST_ROW) <= tallest, (path, width)
