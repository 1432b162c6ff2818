"""The page and the API of the search, in runs and datasets; and nobody finds what is not theirs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Membership, Project, User
from experiments.library.search import datasets, finding
from experiments.models import Battle, Board, Contestant, Dataset, Output, Passage, Sample, Tag, Verdict
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


def test_as_many_queries_for_much_as_for_little(browser, alice):
    def queries(address):
        with CaptureQueriesContext(connection) as asked:
            assert browser.get(address).status_code == 200
        return len(asked)

    addresses = ("/search/?q=panel", "/api/search/?q=panel&state=ended&flag=refusal")
    talk(alice, "panel")
    few = [queries(address) for address in addresses]
    for number in range(4):
        talk(alice, *(f"panel {number} {turn}" for turn in range(3)))
    assert [queries(address) for address in addresses] == few


@pytest.fixture
def lab(alice, charlie):
    """Alice's private talk; and of each other visibility one, said in their own words."""
    project = Project.objects.create(name="Solar lab")
    Membership.objects.create(project=project, user=charlie, role=Membership.Role.WATCHER)
    talk(alice, "The aardvark sleeps.", title="Private")
    talk(alice, "The badger of the project.", title="Project", visibility="project", project=project)
    talk(alice, "The camel of the lab.", title="Lab", visibility="lab")
    approved(talk(alice, "The dingo of everybody.", title="Public", visibility="public"))


@pytest.mark.databases
def test_what_is_found_is_what_may_be_seen(lab, alice, charlie, monkeypatch):
    stranger = User.objects.create_user("stranger")
    gone = User.objects.create_user("gone", is_active=False)
    animals = {word: f"The {word}" for word in ("aardvark", "badger", "camel", "dingo")}

    def sees(person):
        return [word for word in animals if found(person, word)]

    for few in (1000, 0):
        monkeypatch.setattr(finding, "FEW", few)
        assert sees(alice) == ["aardvark", "badger", "camel", "dingo"], few
        assert sees(charlie) == ["badger", "camel", "dingo"], few
        assert sees(stranger) == ["camel", "dingo"], few
        assert sees(gone) == ["dingo"], few


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
    nothing = {"next": None, "previous": None, "results": [], "datasets": [], "suggestion": ""}

    for more in ("", "&page_size=1", "&cursor=99999&before=99999", "&state=ended"):
        theirs, nobodys = (stranger.get(f"/api/search/?q={word}{more}") for word in ("aardvark", "zebrafish"))
        page = stranger.get(f"/search/?q=aardvark{more}").content.decode()
        assert theirs.json() == nobodys.json() == nothing
        assert "Private" not in page
        assert "sleeps" not in page


TEXTS = {
    "dataset": "Poems about Ölmühlen",
    "sample": "Write of the **aardvark** at 太阳能 night.",
    "output": "The badger sleeps.",
    "battle": "The camel was better.",
}


@pytest.fixture
def poems(alice):
    """A dataset of Alice's with one sample, one output and one judgment; and a vote that was not cast."""
    row = Dataset.objects.create(
        owner=alice, name="Poems", slug="poems", description=TEXTS["dataset"], state="ready", visibility="private"
    )
    sample = Sample.objects.create(dataset=row, index=1, instruction=TEXTS["sample"])
    left, right = (Contestant.objects.create(dataset=row, name=name) for name in ("One", "Two"))
    Output.objects.create(sample=sample, contestant=left, text=TEXTS["output"])
    board = Board.objects.create(dataset=row, slug="poems-board", kind="model", judge="judge")
    for ballot, shown, text in (("", None, TEXTS["battle"]), ("b", True, "The camel is not revealed.")):
        battle = Battle.objects.create(
            board=board, sample=sample, left=left, right=right, ballot=ballot, shown_left_first=shown
        )
        Verdict.objects.create(battle=battle, order="original", rationale=text)
    return row


def found_in_datasets(browser, words, **fields):
    answer = browser.get("/api/search/", {"q": words, **fields}).json()
    return [(hit["kind"], hit["name"]) for group in answer["datasets"] for hit in group["results"]]


@pytest.mark.databases
def test_names_samples_outputs_and_judgments_are_found_and_lead_to_their_pages(browser, poems):
    said = {"ölmühlen": "dataset", "AARDVARK": "sample", "太阳": "sample"}
    for words, kind in (said | {"badg*": "output", "camel better": "battle", '"aardvark at"': "sample"}).items():
        [group] = browser.get("/api/search/", {"q": words}).json()["datasets"]
        [hit] = group["results"]
        assert (group["slug"], group["count"], hit["kind"]) == ("poems", 1, kind), words
        assert browser.get(hit["address"]).status_code == 200
        assert group["name"] in browser.get("/search/", {"q": words}).content.decode()
    [[hit]] = [group["results"] for group in browser.get("/api/search/?q=aardvark").json()["datasets"]]
    assert "".join(part["text"] for part in hit["excerpt"]) == "Write of the aardvark at 太阳能 night."


def test_a_dataset_is_found_by_those_who_may_see_it_where_datasets_are_looked_through(browser, poems, charlie):
    assert found_in_datasets(signed_in(charlie), "badger") == []
    assert found_in_datasets(browser, "badger", **{"in": "messages"}) == []
    assert (
        found_in_datasets(browser, "badger", **{"in": "datasets"})
        == found_in_datasets(browser, "badger")
        == [("output", "Output of One")]
    )
    for words in ("badge", "aardvark -night", "badger camel", "badger state:ended", "-badger", '"at the"', "revealed"):
        assert found_in_datasets(browser, words) == [], words
    Dataset.objects.update(visibility="lab")
    assert found_in_datasets(signed_in(charlie), "badger") == [("output", "Output of One")]
    Dataset.objects.update(state="reading")
    assert found_in_datasets(browser, "badger") == []


def test_of_many_places_the_newest_are_shown_and_all_are_counted(browser, poems, monkeypatch):
    monkeypatch.setattr(datasets, "SAMPLES", 8)
    Sample.objects.bulk_create(Sample(dataset=poems, index=n, instruction=f"A zebra {n}") for n in range(2, 14))

    [group] = browser.get("/api/search/?q=zebra").json()["datasets"]
    assert group["count"] == 8
    assert [hit["name"] for hit in group["results"]] == [f"Sample {n}" for n in (13, 12, 11, 10, 9)]
    assert browser.get("/api/search/?q=zebra&cursor=99").json()["datasets"] == []


def test_a_misspelled_word_is_corrected_by_what_the_person_may_see(browser, poems, alice, charlie):
    talk(alice, "Nothing.", title="Negotiation of kites")
    Tag.objects.create(owner=alice, name="weather", folded="weather")
    suggested = {"negotation kites": "negotiation kites", "kites -negotation": "", "poens": "poems", "ab": ""}

    for words, better in (suggested | {"weater": "", "negotation state:failed": ""}).items():
        assert browser.get("/api/search/", {"q": words}).json()["suggestion"] == better, words
    assert 'href="?q=poems' in browser.get("/search/?q=poens").content.decode()
    assert signed_in(charlie).get("/api/search/?q=poens").json()["suggestion"] == ""
