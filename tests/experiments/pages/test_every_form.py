"""What holds for the form of every workflow: it looks for its models once, and who may only read starts nothing."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.people import asked_by, once
from experiments.library.datasets import demonstration
from experiments.models import Experiment
from tests.cases import each_case


@each_case("page", ["/arena/", "/starchamber/", "/council/", "/debate/", "/coding/"])
def test_the_models_of_a_form_are_looked_for_once(browser, page):
    browser.get(page)

    with CaptureQueriesContext(connection) as queries:
        answer = browser.get(page)

    looked = [query["sql"] for query in queries if 'FROM "experiments_provider" WHERE' in query["sql"]]
    assert (answer.status_code, len(looked)) == (200, 1)


def test_who_may_only_read_sees_every_form_and_starts_nothing(browser, provider, alice, read):
    demonstration.make_text(alice)
    alice.role = alice.Role.REVIEWER
    alice.save()
    for page in ("/arena/", "/starchamber/", "/council/", "/debate/", "/coding/", "/battles/"):
        assert "Your role can read" in read(browser.get(page)).text, page
        assert browser.post(page, read(browser.get(page)).form(id="setup")).status_code in {403, 422}, page
    assert not Experiment.objects.exists()


def test_the_latest_runs_are_listed_and_lead_to_the_list_of_all(browser, charlies, read, council, start):
    for number in range(7):
        start(council(question=f"Question {number}?"))

    def listed(of):
        return [link.text for link in read(of.get("/council/")).find("a") if "data-open" in link.attrib]

    assert listed(browser) == [f"Question {number}?" for number in (6, 5, 4, 3, 2)]
    assert listed(charlies) == []
    assert read(browser.get("/council/")).find("a", href="/runs/?workflow=council")


@each_case("page", ["/arena/", "/starchamber/", "/council/", "/debate/", "/coding/"])
def test_examples_fill_the_field_below_which_they_stand(browser, read, page):
    shown = read(browser.get(page))
    examples = [button for button in shown.find("button") if "data-fill" in button.attrib]

    assert len(examples) == 3
    for example in examples:
        assert shown.by_id(example.get("data-fill")).tag == "textarea"
        assert example.get("value")


def test_each_request_looks_anew_and_where_nobody_asks_nothing_is_kept():
    counted = []
    with asked_by(None):
        assert [once(counted.append), once(counted.append)] == [None, None]
    with asked_by(None):
        once(counted.append)
    assert len(counted) == 2

    once(counted.append)
    once(counted.append)
    assert len(counted) == 4
