"""Visitors see of what is published the runs that a curator has approved, and none that was begun since."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from accounts.errors import Forbidden, Invalid
from experiments.library.datasets import demonstration
from experiments.library.search import finding
from experiments.models import Experiment, Run, RunReview
from experiments.review import curation
from experiments.runs import actions
from experiments.runs.sharing import sharing
from experiments.runs.statistics import rows
from tests.cases import each_case
from tests.experiments import contest_rows
from tests.experiments.reports import deliberations
from tests.experiments.search.transcripts import found, talk
from tests.experiments.sharing.published import approved, everybodys
from tests.fixtures import add_model, signed_in


@pytest.fixture
def shown(played):
    """A run that everybody sees."""
    run = played(max_turns=1)
    everybodys(run.experiment)
    return run


@pytest.fixture
def later(shown, alice, drive):
    """One of the same experiment that was begun, and ended, after that."""
    [run] = actions.start(shown.experiment, by=alice)
    drive()
    run.refresh_from_db()
    return run


def pages_of(run):
    call, message = run.calls.first(), run.messages.first()
    own = ("", "status/", "news/", "report/html/", "report/pdf/", "export/jsonl/", "export/csv/")
    return [
        *(f"/runs/{run.pk}/{page}" for page in own),
        f"/calls/{call.pk}/",
        f"/messages/{message.pk}/text/",
        f"/runs/compare/?run={run.pk}&run={run.experiment.runs.exclude(pk=run.pk).first().pk}",
    ]


def sent_away(browser, address):
    return browser.get(address).get("Location", "").startswith("/sign-in/")


@pytest.fixture
def cora(django_user_model):
    return django_user_model.objects.create_user("cora", role="curator")


@pytest.mark.databases
def test_a_run_begun_after_the_approval_is_shown_once_it_is_approved_itself(shown, later, charlie, cora, alice):
    visitor = Client()

    assert [page for page in pages_of(later) if not sent_away(visitor, page)] == []
    assert [page for page in pages_of(shown)[:-1] if sent_away(visitor, page)] == []
    assert sent_away(visitor, pages_of(shown)[-1]), "beside one that is not shown"
    assert signed_in(charlie).get(f"/runs/{later.pk}/").status_code == 200, "the lab sees all of it"

    address = f"/experiments/{shown.experiment_id}/"

    page = Client().get(address).content.decode()
    values = Client().get(f"{address}values.csv").content.decode()

    assert str(shown.pk) in page
    assert str(shown.pk) in values
    assert str(later.pk) not in page + values
    assert "1 run" in page
    assert str(later.pk) in signed_in(charlie).get(address).content.decode()
    assert rows.repeats(shown.experiment, reader=charlie).runs == 2
    assert rows.repeats(shown.experiment, reader=AnonymousUser()).counted == (shown,)
    assert Client().get(f"/api{address}statistics/").status_code == 401, "the API knows no visitors"

    for is_approved in (True, False):
        assert curation.approve(later, by=cora, is_approved=is_approved)
        assert sent_away(Client(), f"/runs/{later.pk}/") is not is_approved

    Run.objects.filter(pk=shown.pk).update(state="failed")
    shown.refresh_from_db()
    assert actions.resume(shown, by=alice)
    assert sent_away(Client(), f"/runs/{shown.pk}/"), "it is to be approved anew"
    assert not RunReview.objects.filter(run=shown, approved__isnull=False).exists()


@pytest.mark.parametrize("few", [1000, 0])
def test_its_words_are_found_by_those_who_sign_in(alice, charlie, monkeypatch, few):
    monkeypatch.setattr(finding, "FEW", few)
    run = talk(alice, "The dingo of everybody.", title="Dingo talk", visibility="public")
    assert found(charlie, "dingo") == ["The dingo of everybody.", "Dingo talk"]
    assert found(AnonymousUser(), "dingo") == ["Dingo talk"]

    approved(run)
    assert found(AnonymousUser(), "dingo") == ["The dingo of everybody.", "Dingo talk"]


def test_a_cycle_and_a_ranking_are_seen_with_their_run(alice):
    contest, council = contest_rows.contest(alice, 1).run, deliberations.council(alice).run
    pages = [
        *(f"/runs/{contest.pk}/{page}" for page in ("cycles/1/", "ratings/", "artifacts.zip")),
        f"/runs/{council.pk}/ranking/1/",
    ]
    Experiment.objects.update(visibility="public")
    assert [page for page in pages if not sent_away(Client(), page)] == []

    approved(contest, council)
    assert [page for page in pages if sent_away(Client(), page)] == []


@pytest.fixture
def campaign(provider, alice, woken_runs):
    """Battles that everybody sees, with a run that has ended and is not approved yet."""
    dataset = demonstration.make_text(alice)
    judge = add_model("sim/judge:first=0")
    config = {"dataset": dataset.slug, "prompt": "text_quality"}
    made = actions.create(owner=alice, workflow="battles", config=config, cast={"judge": {"model": judge.slug}})
    actions.start(made, by=alice)
    Run.objects.filter(experiment=made).update(state="completed")
    Experiment.objects.filter(pk=made.pk).update(visibility="public")
    return made


@each_case("page", ["", "live/"])
def test_the_figures_of_a_campaign_are_shown_when_all_of_its_runs_are_approved(campaign, charlie, page):
    address, run = f"/experiments/{campaign.pk}/{page}", Run.objects.filter(experiment=campaign).first()

    before = Client().get(address).content.decode()
    assert "not approved yet" in before
    assert "fact-cost" not in before
    assert str(run.pk) not in before
    assert "fact-cost" in signed_in(charlie).get(address).content.decode()

    approved(*Run.objects.filter(experiment=campaign))
    after = Client().get(address).content.decode()
    assert "fact-cost" in after
    assert str(run.pk) in after


def test_what_has_changed_meanwhile_is_looked_at_again(shown, alice, cora):
    """The page of who publishes is older than what its owner, or a curator, has done since."""
    Experiment.objects.filter(pk=shown.experiment_id).update(visibility="lab")
    stale = Experiment.objects.get(pk=shown.experiment_id)
    Experiment.objects.filter(pk=stale.pk).update(visibility="public")
    with pytest.raises(Forbidden):
        sharing.share(stale, by=alice, visibility="private")
    assert Experiment.objects.get(pk=stale.pk).visibility == "public", "withdrawing it is not its owner's"

    RunReview.objects.update(approved=None)
    Experiment.objects.filter(pk=stale.pk).update(visibility="lab")
    stale.refresh_from_db()
    with pytest.raises(Invalid):
        sharing.share(stale, by=cora, visibility="public")
