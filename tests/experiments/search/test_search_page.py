"""The page and the API of the search: what is found, marked and paged; and nobody finds what is not theirs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Membership, Project, User
from experiments.library.search import finding
from experiments.models import Passage
from tests.cases import each_case
from tests.experiments.search.transcripts import found, talk
from tests.experiments.sharing.published import approved
from tests.fixtures import signed_in


def test_the_found_words_are_marked_and_everything_else_is_plain_text(browser, alice):
    run = talk(alice, "A <b>solar</b> <script>alert(1)</script> panel & more", title="Aardvarks of the lab")
    page = browser.get("/search/?q=SOLAR+panel").content.decode()
    [hit] = browser.get("/api/search/?q=solar").json()["results"]

    message = run.messages.get()
    assert f'href="/runs/{run.pk}/#message-{message.pk}"' in page
    assert '&lt;b&gt;<mark class="found">solar</mark>&lt;/b&gt;' in page
    assert "<script>alert" not in page
    setup = browser.get("/search/?q=aardvarks").content.decode()
    assert f'href="/experiments/{run.experiment_id}/"' in setup
    assert '<mark class="found">Aardvarks</mark> of the lab' in setup
    assert (hit["run"], hit["kind"], hit["turn"], hit["seat"]) == (str(run.pk), "message", 1, "A")
    assert [part["text"] for part in hit["excerpt"] if part["found"]] == ["solar"]
    assert hit["excerpt"][0] == {"text": "A <b>", "found": False}

    talk(alice, "telescopes " * 50 + "generator" + " telescopes" * 50)
    [hit] = browser.get("/api/search/?q=generator").json()["results"]
    first, *words, last = "".join(part["text"] for part in hit["excerpt"]).split()
    assert (first, last) == ("…", "…")
    assert set(words) == {"telescopes", "generator"}, "no word is cut in two"
    for number in range(2):
        talk(alice, "A kite.", "Another kite.", title=f"Toys {number}")
    page = browser.get("/search/?q=kite").content.decode()
    assert [page.count(f"Toys {number}</a>") for number in range(2)] == [1, 1], "under one title each"
    assert (page.count('class="hit-text"'), page.count('name="run"')) == (4, 2)


def test_what_cannot_be_read_is_said_on_the_page_and_is_a_problem_of_the_api(browser):
    page, answer = browser.get("/search/?q=state:foo"), browser.get("/api/search/?q=state:foo")

    assert (page.status_code, answer.status_code) == (422, 400)
    assert "There is no state foo" in page.content.decode()
    assert answer["Content-Type"] == "application/problem+json"
    assert "There is no state foo" in answer.json()["detail"]
    for asked in ("cursor=x", "page_size=0", "page_size=101", "page_size=x", "from=soon", "in=here"):
        assert browser.get(f"/api/search/?q=x&{asked}").status_code == 400, asked


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


@each_case("address", ["/search/?q=panel", "/api/search/?q=panel&state=ended&flag=refusal"])
def test_as_many_queries_for_much_as_for_little(browser, alice, address):
    def queries():
        with CaptureQueriesContext(connection) as asked:
            assert browser.get(address).status_code == 200
        return len(asked)

    talk(alice, "panel")
    few = queries()
    for number in range(4):
        talk(alice, *(f"panel {number} {turn}" for turn in range(3)))

    assert queries() == few


SECRET = "The aardvark sleeps."
NOTHING = {"next": None, "previous": None, "results": [], "datasets": [], "suggestion": ""}


@pytest.fixture
def lab(alice, charlie):
    """Alice's private talk; and of each other visibility one, said in their own words."""
    project = Project.objects.create(name="Solar lab")
    Membership.objects.create(project=project, user=charlie, role=Membership.Role.WATCHER)
    talk(alice, SECRET, title="Private")
    talk(alice, "The badger of the project.", title="Project", visibility="project", project=project)
    talk(alice, "The camel of the lab.", title="Lab", visibility="lab")
    approved(talk(alice, "The dingo of everybody.", title="Public", visibility="public"))


@pytest.mark.databases
@each_case("few", [1000, 0])
def test_what_is_found_is_what_may_be_seen(lab, alice, charlie, monkeypatch, few):
    monkeypatch.setattr(finding, "FEW", few)
    stranger = User.objects.create_user("stranger")
    gone = User.objects.create_user("gone", is_active=False)
    animals = {word: f"The {word}" for word in ("aardvark", "badger", "camel", "dingo")}

    def sees(person):
        return [word for word in animals if found(person, word)]

    assert sees(alice) == ["aardvark", "badger", "camel", "dingo"]
    assert sees(charlie) == ["badger", "camel", "dingo"]
    assert sees(stranger) == ["camel", "dingo"]
    assert sees(gone) == ["dingo"]


def test_a_project_is_a_filter_for_those_who_belong_to_it_as_long_as_they_do(lab, alice, charlie):
    asked = 'badger project:"solar lab"'
    assert found(charlie, asked) == ["The badger of the project."]
    assert found(alice, asked) == [], "she does not belong to it"
    Membership.objects.filter(user=charlie).delete()
    assert found(charlie, "badger") == found(charlie, asked) == []

    Passage.objects.get(kind="message", run__experiment__title="Public").run.messages.all().delete()
    assert found(alice, "dingo") == [], "what is deleted is found no more"


def test_the_page_and_the_api_tell_a_stranger_the_same_as_where_there_is_nothing(lab, alice):
    stranger = signed_in(User.objects.create_user("stranger"))

    for more in ("", "&page_size=1", "&cursor=99999&before=99999", "&state=ended"):
        theirs, nobodys = (stranger.get(f"/api/search/?q={word}{more}") for word in ("aardvark", "zebrafish"))
        page = stranger.get(f"/search/?q=aardvark{more}").content.decode()
        assert theirs.json() == nobodys.json() == NOTHING
        assert "Private" not in page
        assert "sleeps" not in page
