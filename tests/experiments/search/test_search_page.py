"""The page and the API of the search: what is found, marked, linked and paged."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from experiments.search import finding
from tests.cases import each_case
from tests.experiments.search.transcripts import talk
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(alice):
    return signed_in(alice)


def test_the_found_words_are_marked_and_everything_else_is_plain_text(browser, alice):
    run = talk(alice, "A <b>solar</b> <script>alert(1)</script> panel & more")
    page = browser.get("/search/?q=SOLAR+panel").content.decode()

    message = run.messages.get()
    assert f'href="/runs/{run.pk}/#message-{message.pk}"' in page
    assert '&lt;b&gt;<mark class="found">solar</mark>&lt;/b&gt;' in page
    assert "<script>alert" not in page


def test_the_words_that_were_asked_for_stay_in_the_form(browser, alice):
    page = browser.get("/search/?q=%22%3E%3Cb%3Ehello&state=ended&from=2026-01-01").content.decode()

    assert 'value="&quot;&gt;&lt;b&gt;hello"' in page
    assert '<option value="ended" selected>' in page
    assert 'value="2026-01-01"' in page


def test_the_set_up_leads_to_its_experiment(browser, alice):
    run = talk(alice, title="Aardvarks of the lab")

    assert f'href="/experiments/{run.experiment_id}/"' in browser.get("/search/?q=aardvarks").content.decode()


def test_the_empty_page_says_how_to_ask_and_an_empty_result_what_to_try(browser):
    assert "How to ask" in browser.get("/search/").content.decode()
    assert "Nothing was found in what you may see." in browser.get("/search/?q=zebra").content.decode()


def test_what_cannot_be_read_is_said_on_the_page_and_is_a_problem_of_the_api(browser):
    page, answer = browser.get("/search/?q=state:foo"), browser.get("/api/search/?q=state:foo")

    assert (page.status_code, answer.status_code) == (422, 400)
    assert "There is no state foo" in page.content.decode()
    assert answer["Content-Type"] == "application/problem+json"
    assert "There is no state foo" in answer.json()["detail"]


@each_case("asked", ["cursor=x", "page_size=0", "page_size=101", "page_size=x", "from=soon", "in=here"])
def test_the_api_refuses_what_it_cannot_read(browser, asked):
    assert browser.get(f"/api/search/?q=x&{asked}").status_code == 400


def test_the_api_gives_the_excerpt_in_parts(browser, alice):
    run = talk(alice, "We share <solar> panels.")
    [hit] = browser.get("/api/search/?q=solar").json()["results"]

    assert hit["run"] == str(run.pk)
    assert (hit["kind"], hit["turn"], hit["seat"], hit["owner"]) == ("message", 1, "A", "alice")
    assert [(part["text"], part["found"]) for part in hit["excerpt"]] == [
        ("We share <", False),
        ("solar", True),
        ("> panels.", False),
    ]


@pytest.mark.databases
def test_pages_hold_everything_once_the_latest_first(browser, alice, monkeypatch):
    monkeypatch.setattr(finding, "SPANS", (3, 4, 2**62))
    for number in range(12):
        talk(alice, f"panel {number}" if number % 3 else "night")
    address, found = "/api/search/?q=panel&page_size=3", []
    while address:
        answer = browser.get(address).json()
        found += ["".join(part["text"] for part in hit["excerpt"]) for hit in answer["results"]]
        address = answer["next"]

    assert found == [f"panel {number}" for number in range(11, -1, -1) if number % 3]


@pytest.mark.databases
@pytest.mark.parametrize("address", ["/search/?q=panel", "/api/search/?q=panel&state=ended&flag=refusal"])
def test_as_many_queries_for_much_as_for_little(browser, alice, address):
    def queries():
        with CaptureQueriesContext(connection) as asked:
            assert browser.get(address).status_code == 200
        return len(asked)

    for number in range(3):
        talk(alice, f"panel {number}")
    few = queries()
    for number in range(20):
        talk(alice, *(f"panel {number} {turn}" for turn in range(3)))

    assert queries() == few


def test_the_menu_leads_to_the_search(browser):
    assert f'href="{reverse("search")}"' in browser.get(reverse("runs")).content.decode()
