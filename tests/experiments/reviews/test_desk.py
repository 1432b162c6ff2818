"""The review desk: what curators read and decide, and what owners submit to them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import AuditEntry
from accounts.tokens import create_token
from experiments.library.search import indexing
from experiments.models import Experiment, Message, Run
from experiments.review import curation, desk, queues
from tests.experiments.api.conftest import Api
from tests.experiments.reviews import reviewed
from tests.fixtures import signed_in


@pytest.fixture
def run(alice):
    """A private run of Alice's that has ended, with one flagged message."""
    record = reviewed.record(alice, 1)
    Message.objects.filter(run=record.run, seat="A").update(flags=["refusal"], reasoning="I plan to <b>hide</b> it.")
    indexing.everything(only_missing=False)
    return record.run


def address(run):
    return reverse("review-desk-run", args=[run.pk])


def test_a_curator_approves_and_publishes_in_at_most_five_interactions_from_home(run, alice, cora, read):
    signed_in(alice).post(f"/runs/{run.pk}/curation/", {"deed": "submit"})
    browser, interactions = signed_in(cora), 0
    page = read(browser.get("/", follow=True))
    for wanted in ("/review/", reverse("review-desk"), address(run)):
        found = next(one.get("href") for one in page.find("a") if one.get("href", "").split("?")[0] == wanted)
        page, interactions = read(browser.get(found)), interactions + 1
    [button] = [one for one in page.find("button") if one.get("value") == "approve_and_publish"]
    browser.post(address(run), {button.get("name"): button.get("value")})

    assert Experiment.objects.get(pk=run.experiment_id).visibility == "public"
    assert interactions + 1 <= 5


def test_a_private_run_is_read_by_curators_as_long_as_its_owner_submits_it_and_that_is_recorded(run, alice, cora, read):
    browser = signed_in(cora)
    assert browser.get(address(run)).status_code == 404
    assert signed_in(alice).get(address(run)).status_code == 404, "the desk is the curators'"
    curation.submit(run, by=alice)

    text = read(browser.get(address(run))).text
    assert "I plan to <b>hide</b> it." in text
    assert "refuses" in text
    assert browser.get(run.get_absolute_url()).status_code == 404, "at the desk alone"
    assert AuditEntry.objects.filter(action="run_read", actor="cora", target=f"run:{run.pk}").count() == 1
    curation.take_back(run, by=alice)
    assert browser.get(address(run)).status_code == 404


def test_a_run_is_returned_by_page_or_program_with_a_reason_and_submitted_again(run, alice, cora, read):
    curation.submit(run, by=alice)
    browser = signed_in(cora)
    browser.post(address(run), {"deed": "return", "reason": ""})
    assert Run.objects.undecided().filter(pk=run.pk).exists(), "a reason is missing"
    api = Api(create_token(cora))
    told = api.get(f"review/runs/{run.pk}/").json()
    assert (len(told["messages"]), len(told["judgments"])) == (2, 2)
    assert told["run"]["curation"]["submitted"]
    decided = api.post(f"review/runs/{run.pk}/", {"deed": "return", "reason": "Name the models."}).json()
    assert decided["curation"]["reason"] == "Name the models."

    assert desk.counts(cora).to_approve == 0
    assert "Name the models." in read(signed_in(alice).get(f"/runs/{run.pk}/curation/")).text
    assert curation.submit(run, by=alice)
    assert not curation.submit(run, by=alice)
    assert desk.counts(cora) == desk.Counts(to_approve=1, flagged=1)
    recorded = AuditEntry.objects.filter(target=f"run:{run.pk}").order_by("pk").values_list("action", flat=True)
    assert list(recorded) == ["submitted", "run_read", "returned", "submitted"]


def test_an_administrator_reads_a_run_that_nobody_submitted_and_decides_nothing(run, people):
    browser = signed_in(people("root", "admin", is_staff=True, is_superuser=True))

    assert browser.get(address(run)).status_code == 200
    assert browser.post(address(run), {"deed": "approve_and_publish"}).status_code == 404
    browser.get(reverse("review-desk"), {"show": "all", "search": "panels"})
    assert set(AuditEntry.objects.values_list("action", flat=True)) == {"run_read", "runs_searched"}


def test_counts_take_as_few_queries_for_more_runs(run, alice, cora):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            desk.counts(cora)
        return len(captured)

    few = queries()
    for _ in range(3):
        curation.submit(reviewed.record(alice, 1).run, by=alice)
    assert queries() == few <= 2
    curation.submit(run, by=alice)
    assert desk.fitting(cora, desk.FLAGGED, {}).get() == run, "the others have no flag"


def test_what_is_looked_for_at_the_desk(run, alice, bob, dora, cora):
    Experiment.objects.filter(pk=run.experiment_id).update(visibility="lab")
    queue = queues.make(by=alice, name="Two", rubric=reviewed.rubric(), overlap=2, members=["bob", "dora"])
    reviewed.answer(queue.items.first(), bob, 0.0)
    reviewed.answer(queue.items.first(), dora, 1.0)
    browser, api = signed_in(cora), Api(create_token(cora))

    for asked, finds in (
        ({"search": "panels"}, True),
        ({"search": "nowhere"}, False),
        ({"owner": "alice"}, True),
        ({"flag": "refusal"}, True),
        ({"flag": "truncated"}, False),
        ({"workflow": "council"}, False),
        ({"disagreement": "0.25"}, True),
        ({"disagreement": "0.75"}, False),
        ({"show": "flagged"}, True),
        ({"show": "approved"}, False),
    ):
        page = browser.get(reverse("review-desk"), asked)
        listed = api.get("review/runs/", **asked).json()["results"]
        assert [one.pk for one in page.context["rows"]] == ([run.pk] if finds else []), asked
        assert [one["id"] for one in listed] == ([str(run.pk)] if finds else []), asked
