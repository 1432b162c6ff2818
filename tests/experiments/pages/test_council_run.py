"""A council as a page, from rows as from events: what failed, what can be done about it, and answers as safe HTML."""

import re
from uuid import uuid4

import pytest
from django.template.loader import render_to_string
from django.urls import reverse

from experiments.models import Call, Run
from experiments.runs import actions
from experiments.runs.markdown import LONGEST_COLOURED, MOST_SIGNS, TAGS, coloured, to_html
from experiments.runs.steering import steering
from experiments.workflows.coding.tags import MOST_COLOURED
from tests.experiments.pages.conftest import drive
from tests.experiments.pages.painted import assert_every_fragment_finds_its_place, assert_same_page
from tests.making import maker
from tests.markup import Page

BROKEN = "sim/neutral:first=0:fail=401"
ANSWER = "Short waves scatter more.\n\n```python\nreturn 1 / wavelength**4\n```"
REVIEW = (
    "Response A is exact, Response B is short; no Response Analysis was made. `Response A` is code.\n\n"
    "> Response A said so\n\nFINAL RANKING:\n1. Response A\n2. Response B\n"
)


@pytest.fixture
def sit(council, begun):
    return lambda *members, **config: begun(council(*members, **config))


@maker
def scripted_sit(scripted, alice, begun, /, *members):
    """Each member has an answer and a review, word for word; the chair concludes."""
    models = [scripted.model(f"lab/model-{number}", *said) for number, said in enumerate(members, 1)]
    cast = {f"member-{number}": {"model": model} for number, model in enumerate(models, 1)}
    cast["chair"] = {"model": scripted.model("lab/chair", "They agree. Member 1 is right.")}
    asked = {"question": "Why is the sky blue?", "title": False}
    return begun(actions.create(owner=alice, workflow="council", config=asked, cast=cast))


@maker
def press(browser, /, run, is_driven=True, **words):
    offers = Run.objects.get(pk=run.pk).open_offers
    response = browser.post(reverse("run-ask", args=[run.pk]), {"key": offers[-1].key if offers else "", **words})
    if is_driven:
        drive()
    return response


def retry_buttons(page):
    return [element.get("value") for element in page.find("button", name="retry")]


def test_a_member_that_failed_says_why_is_asked_again_and_ranked_again(page_of, sit, press):
    run = sit("sim/cooperative:first=0", "sim/cooperative:first=0", f"{BROKEN}:times=1")
    page = page_of(run)
    call = run.calls.get(state=Call.State.FAILED)
    failed = page.by_id("slot-reply-1-member-3")

    names = [element.get("data-name") for element in page.find(class_="panel")][:2]
    assert names == ["cooperative:first=0 #1", "cooperative:first=0 #2"], "two seats of one model can be told apart"
    assert "key refused" in failed.text
    assert reverse("call", args=[call.pk]) in [element.get("href") for element in failed.findall(".//a")]
    assert retry_buttons(page) == ["member-3"]
    rows = [element.text for element in page.by_id("figures-1").findall(".//tr")]
    [whole] = [row for row in rows if row.startswith("Whole turn")]
    assert whole.split()[2] == str(run.calls.count()), "the figures add up to every call"
    assert any(row.startswith("Answers, by the members 3 1 failed") for row in rows)

    assert_same_page(run, "turn_started", "call_failed", "ballot_read", "ballots_counted", "offer_opened")
    assert_every_fragment_finds_its_place(run, "slot-aside", "slot-ending", "slot-offer")
    places = {t.get("id"): t.get("data-place") for t in page.find("template") if "data-place" in t.attrib}

    assert places["live-member-2"].replace("PURPOSE", "review").replace("TURN", "1") == "slot-review-1-member-2"
    assert page.find(id="slot-review-1-member-2")
    assert page.find(id=places["live-chair"].replace("TURN", "1"))
    assert press(run, retry="member-3").status_code == 303
    assert_same_page(run)
    late = page_of(run).by_id("slot-reply-1-member-3")
    assert [element.tag for element in late] == ["div", "article"]
    press(run, action="deliberate")
    assert_same_page(run, "message_completed")
    page = page_of(run)
    assert len(page.by_id("slot-ranking-1")) == 2
    assert len(page.by_id("count-1-2").findall(".//tbody")[0].findall(".//tr")) == 3
    assert "Earlier conclusion" in page.by_id("slot-conclusion-1-chair").text
    assert "count 2" in page.by_id("slot-review-1-member-1").text


def test_a_reviewer_without_a_ranking_abstains_with_its_reason(page_of, scripted_sit, press, scripted):
    run = scripted_sit([ANSWER, REVIEW], [ANSWER, REVIEW], [ANSWER, "I like them all.", "Really all.", REVIEW])
    page = page_of(run)
    ballot = run.ballots.get(reviewer="member-1")
    shown = [f"model-{ballot.labels[label][-1]}" for label in ("Response A", "Response B")]
    named = [element.text for element in page.by_id("slot-review-1-member-1").iter() if element.get("class") == "named"]
    assert named == shown * 2, "names stand for labels"
    review = page.by_id("slot-review-1-member-3")

    assert "Abstained" in review.text
    assert run.ballots.get(reviewer="member-3").abstained_reason in review.text
    [abstention] = page.by_id("slot-ranking-1").findall(".//li")
    assert "model-3" in abstention.text
    assert retry_buttons(page) == ["member-3"]
    assert_same_page(run, "ballot_read")
    press(run, retry="member-3")
    assert_same_page(run)
    of_member_3 = run.ballots.filter(reviewer="member-3").order_by("id")
    assert list(of_member_3.values_list("count", "superseded")) == [(1, True), (1, False)]
    assert run.messages.filter(step__purpose="conclusion").count() == 1, "the chair is asked by a person"


def test_the_count_is_a_page_and_a_part_and_what_stands_in_for_a_ranking_or_a_chair_is_called_so(
    page_of, browser, read, sit, scripted_sit
):
    run = sit(chair=BROKEN)
    assert_same_page(run, "concluded_by_rank")
    shown, address = page_of(run), reverse("run-ranking", args=[run.pk, 1])
    assert "Best ranked answer" in shown.by_id("slot-conclusion-1-chair").text
    part = browser.get(address, {"part": 1})
    assert read(browser.get(address)).find("h1")
    assert [words in part.content.decode() for words in ("<html", "Krippendorff")] == [False, True]
    assert read(part).text in shown.by_id("ranking-1-1").text
    assert "not defined: the reviewers did not all rank the same answers" in shown.by_id("slot-ranking-1").text
    assert browser.get(reverse("run-ranking", args=[run.pk, 2])).status_code == 404
    assert browser.get(address, {"count": 7}).status_code == 404
    run = sit("sim/cooperative:first=0", BROKEN, chair=BROKEN, **{"chair-2": "sim/cooperative:first=0"})
    assert_same_page(run, "seat_replaced")
    page = page_of(run)
    assert "Only one member answered" in page.by_id("slot-ranking-1").text
    conclusion = page.by_id("slot-conclusion-1-chair").text
    assert all(words in conclusion for words in ("Fallback chair: sim/cooperative:first=0", "key refused"))
    without_a_ballot = page_of(scripted_sit([ANSWER, "None."], [ANSWER, "None."]))
    assert "No reviewer gave a readable ranking" in without_a_ballot.by_id("slot-ranking-1").text


def test_a_council_that_a_limit_stopped_is_branched_from_its_question_and_can_go_on(page_of, browser, read, sit):
    run = sit(limits={"tokens": 300})
    message = run.messages.get(seat="person")
    address = reverse("message-branch", args=[message.pk])
    page = page_of(run)
    links = [element.get("href") for element in page.find("a", **{"data-dialog": ""})]

    assert [link for link in links if link and link.endswith("/branch/")] == [address]
    assert "A limit stopped the council" in page.text
    assert "disabled" in page.by_id("composer-text").attrib
    branched = browser.post(address, {"text": "Why is the sea blue?"})
    browser.post(reverse("run-lift", args=[run.pk]), {"tokens": "", "action": "lift"})
    drive()
    assert "Why is the sea blue?" in read(browser.get(branched["Location"])).by_id("slot-question-1").text
    assert len(page_of(run).by_id("slot-conclusion-1-chair"))


def test_a_question_asked_while_it_works_is_queued_and_makes_the_next_turn(page_of, browser, council, start, press):
    run = start(council())
    address = reverse("run-ask", args=[run.pk])
    assert press(run, is_driven=False, text="And why are sunsets red?")["Location"] == run.get_absolute_url()
    assert "And why are sunsets red?" in page_of(run).by_id("queued").text
    assert_same_page(run)

    drive()
    assert_same_page(run)
    page = page_of(run)
    assert "And why are sunsets red?" in page.by_id("slot-question-2").text
    assert len(page.by_id("slot-conclusion-2-chair"))
    assert page.by_id("queued").text == ""
    assert retry_buttons(page) == []

    [offer] = Run.objects.get(pk=run.pk).open_offers
    asked = {"key": offer.key, "text": "  "}
    assert browser.post(address, asked, headers={"Accept": "application/json"}).status_code == 400
    steering.say(run, by=run.experiment.owner, key=offer.key, action="conclude")
    late = browser.post(address, {**asked, "action": "conclude"}, headers={"Accept": "application/json"})
    assert late.status_code == 409


NAMES = {"Response A": "Alpha", "Response B": "Beta", "Response AA": "Omega"}


def test_nothing_in_it_runs_or_loads():
    for evil in (
        *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "![x](https://evil.example/pixel.png)"),
        *("[x](javascript:alert(1))", "[x](data:text/html;base64,PHNjcmlwdD4=)", "[x](//evil.example)"),
        *('<span class="k" style="position:fixed">x</span>', '<strong class="named">Alpha</strong>'),
        *("```html\n<script>alert(1)</script>\n```", '```"><script>alert(1)</script>\ncode\n```'),
        "```python\n'''</code></pre><script>alert(1)</script>'''\n```",
        *("<iframe src=https://evil.example></iframe>", "<style>*{display:none}</style>"),
        "`<b onclick=alert(1)>`",
    ):
        elements = list(Page(to_html(evil)).root.find("body").iterdescendants())

        assert {element.tag for element in elements} <= TAGS, evil
        for element in elements:
            assert set(element.attrib) <= {"href", "rel", "class"}
            assert element.attrib.get("href", "https://").startswith(("http://", "https://"))
            assert element.attrib.get("class", "highlight") != "named"
            assert element.tag != "span" or "pre" in [parent.tag for parent in element.iterancestors()]
    assert '<a href="https://a.example" rel="noopener noreferrer nofollow">x</a>' in to_html("[x](https://a.example)")


def test_code_of_a_known_language_is_coloured_by_classes_alone_unless_it_is_very_long_or_all_signs():
    html = to_html("```python\nreturn 1  # one\n```")

    assert '<pre class="highlight"><code><span class="k">return</span>' in html
    assert '<span class="c1"># one</span>' in html
    assert "style=" not in html
    for fence in ("", "klingon", "../../etc/passwd"):
        plain = '<pre class="highlight"><code>a &lt; b\n</code></pre>\n'
        assert to_html(f"```{fence}\na < b\n```") == plain
    assert "<span" not in to_html("```python\n" + "x = 1\n" * LONGEST_COLOURED + "```")

    assert to_html("**a" * MOST_SIGNS) == f"<pre>{'**a' * MOST_SIGNS}</pre>"


def test_exact_labels_become_names_in_bold_and_what_only_looks_like_labels_and_other_peoples_words_stay():
    def names(text):
        return re.findall(r'<strong class="named">(\w+)</strong>', to_html(text, NAMES))

    assert names("Response A beats Response B.") == ["Alpha", "Beta"]
    assert names("Response AA比Response A好") == ["Omega", "Alpha"], "the longer label wins, and Chinese may follow"
    assert names("1. Response A\n\n| x |\n|---|\n| Response B |\n\n**Response A**") == ["Alpha", "Beta", "Alpha"]
    assert "<i>" not in to_html("Response A", {"Response A": "<i>evil</i>"}), "a name is no markup"

    for text in (
        *("Response Analysis and Response Bias", "Response C is not there", "XResponse A", "Response A1"),
        *("`Response A`", "```\nResponse A\n```", "    Response A", "> Response A is the best", "「Response A」"),
        *("“Response A is the best”", '"Response A is the best", it says', "[Response A](https://a.example)"),
    ):
        assert "named" not in to_html(text, NAMES)


def test_code_that_would_read_otherwise_than_it_runs_shows_why():
    trick = 'if role == "user\u202e \u2066# admin\u2069":'

    of_many = dict.fromkeys(range(MOST_COLOURED + 1), "lab/model")
    told = [{"data": {"id": uuid4(), "parsed": {"code": trick}}, "cast": cast} for cast in ({}, of_many)]
    of_contests = [render_to_string("workflows/coding/_solution.html", one) for one in told]
    for html in (coloured(trick, "python"), to_html(f"```\n{trick}\n```"), *of_contests):
        shown = Page(html).text
        assert "⟨U+202E⟩" in shown, html
        assert not {"\u202e", "\u2066", "\u2069"} & set(shown)
    assert "שלום\u200f" in to_html("שלום\u200f")
