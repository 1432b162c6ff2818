"""What is found in datasets, by whom, and what is offered where nothing is found."""

import pytest

from experiments.library.search import datasets
from experiments.models import Battle, Board, Contestant, Dataset, Output, Sample, Tag, Verdict
from tests.experiments.search.transcripts import talk
from tests.fixtures import signed_in

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


def found(browser, words, **fields):
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
    assert found(signed_in(charlie), "badger") == []
    assert found(browser, "badger", **{"in": "messages"}) == []
    assert found(browser, "badger", **{"in": "datasets"}) == found(browser, "badger") == [("output", "Output of One")]
    for words in ("badge", "aardvark -night", "badger camel", "badger state:ended", "-badger", '"at the"', "revealed"):
        assert found(browser, words) == [], words
    Dataset.objects.update(visibility="lab")
    assert found(signed_in(charlie), "badger") == [("output", "Output of One")]
    Dataset.objects.update(state="reading")
    assert found(browser, "badger") == []


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
