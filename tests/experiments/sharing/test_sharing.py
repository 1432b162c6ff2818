"""An experiment is its owner's until they share it: with a project, the lab or everybody, or by an unlisted link."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db.models import F
from django.test import Client
from django.utils import timezone

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry, Project, User
from experiments.library.datasets import demonstration
from experiments.library.search import finding
from experiments.models import Budget, Experiment, Export, Run, RunReview, ShareLink
from experiments.review import curation
from experiments.runs import actions
from experiments.runs.admission import may_change
from experiments.runs.reports import jobs
from experiments.runs.sharing import sharing
from experiments.runs.statistics import rows
from experiments.runs.steering import steering
from tests.cases import each_case
from tests.experiments import contest_rows
from tests.experiments.reports import deliberations
from tests.experiments.rights.people import EVERYBODY, INSIDE, OUTSIDE, lab_of
from tests.experiments.search.transcripts import found, talk
from tests.experiments.sharing.published import approved, everybodys
from tests.fixtures import add_model, signed_in


@pytest.fixture
def run(played):
    return played(max_turns=1)


@pytest.fixture
def link(run, alice):
    return sharing.create_link(run.experiment, by=alice)


@each_case("end", ["revoked", "expired", "left"])
def test_a_link_ends_at_once(run, link, alice, end):
    row, secret = link
    if end == "revoked":
        signed_in(alice).post(f"/links/{row.pk}/revoke/")
    elif end == "expired":
        ShareLink.objects.update(expires=timezone.now() - timedelta(seconds=1))
    else:
        alice.is_active = False
        alice.save()

    for address in (f"/s/{secret}/", f"/s/{secret}/runs/{run.pk}/"):
        answer = Client().get(address)
        assert (answer.status_code, "does not work" in answer.content.decode()) == (404, True)


def test_a_visitor_reads_the_experiment_and_its_run_and_nothing_else_and_a_guess_says_nothing(run, link, arena):
    visitor, (_row, secret) = Client(), link
    other = Run.objects.create(experiment=arena(), seed=1)

    listed = visitor.get(f"/s/{secret}/")
    report = visitor.get(f"/s/{secret}/runs/{run.pk}/")

    assert f"/s/{secret}/runs/{run.pk}/" in listed.content.decode()
    assert run.messages.first().text[:40] in report.content.decode()
    assert report["Content-Disposition"] == "inline"
    assert "sandbox" in report["Content-Security-Policy"]
    for answer in (listed, report):
        assert "noindex" in answer["X-Robots-Tag"]
        assert (answer["Cache-Control"], answer["Referrer-Policy"]) == ("no-store", "no-referrer")
    assert visitor.get(f"/runs/{run.pk}/").status_code == 302
    assert visitor.get(f"/s/{secret}/runs/{other.pk}/").status_code == 404, "of another experiment"

    row, _secret = link
    for guess in ("x", secret[:-1], secret + "x", row.hint, row.digest):
        answer = Client().get(f"/s/{guess}/")

        assert answer.status_code == 404
        assert "does not work" in answer.content.decode()
        assert row.experiment.title not in answer.content.decode()


def test_a_link_is_made_on_a_page_that_shows_it_once_or_over_the_api_and_revoked_there(run, alice):
    browser = signed_in(alice)
    page = browser.post(f"/experiments/{run.experiment_id}/links/", {"days": "3"})
    address = re.search(r'value="(http://testserver/s/[^"]+/)"', page.content.decode())[1]
    secret = address.split("/")[-2]
    assert page["Cache-Control"] == "no-store"
    assert Client().get(address).status_code == 200
    assert secret not in browser.get(f"/experiments/{run.experiment_id}/sharing/").content.decode()
    assert secret not in str(list(ShareLink.objects.values())) + str(list(AuditEntry.objects.values()))

    ShareLink.objects.all().delete()
    at = f"/api/experiments/{run.experiment_id}/links/"

    for days in (0, 366):
        assert browser.post(at, {"days": days}, content_type="application/json").status_code == 400
        with pytest.raises(Invalid):
            sharing.create_link(run.experiment, by=alice, days=days)
    made = browser.post(at, {"days": 2}, content_type="application/json").json()
    assert Client().get(made["address"]).status_code == 200
    [listed] = browser.get(at).json()["results"]
    assert listed["id"] == made["id"]
    assert "address" not in listed
    assert browser.delete(f"/api/links/{made['id']}/").status_code == 204

    assert Client().get(made["address"]).status_code == 404
    deeds = AuditEntry.objects.filter(action__startswith="link_").values_list("action", flat=True)
    assert sorted(deeds) == [*["link_created"] * 2, *["link_opened"] * 2, "link_revoked"]


@pytest.fixture
def live(run, link, settings):
    """Its run is long, and goes on: something happens before each visit. Returns the visit."""
    settings.EXPORT_DIRECT_MESSAGES = 1
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING)

    def visit():
        Run.objects.filter(pk=run.pk).update(last_seq=F("last_seq") + 1)
        return Client().get(f"/s/{link[1]}/runs/{run.pk}/")

    return visit


def test_visits_to_a_run_that_goes_on_make_no_file_each_but_a_newer_one_after_a_while(run, live, alice, make_files):
    signed_in(alice).post(f"/runs/{run.pk}/files/", {"format": "html"})
    for _visit in range(3):
        waiting = live()
        assert (waiting.status_code, waiting["Refresh"]) == (202, "5")
    assert sorted(Export.objects.values_list("format", flat=True)) == ["html", "html-link"], "its owner has another"
    make_files()
    linked = Export.objects.filter(format="html-link")

    shown = live()
    assert shown.status_code == 200, "as it was a moment ago"
    assert run.messages.first().text[:40] in b"".join(shown).decode()
    assert linked.count() == 1
    linked.update(ended=timezone.now() - jobs.LEAST_AGE)
    assert live().status_code == 202
    assert linked.count() == 2
    make_files()
    newest = linked.latest("created")
    newest.path.unlink()
    assert live().status_code == 202, "it was removed"
    assert linked.filter(state=Export.State.QUEUED).count() == 1
    linked.update(state=Export.State.FAILED, ended=timezone.now())
    count = linked.count()
    assert "could not be made" in live().content.decode()
    assert linked.count() == count, "it is not tried at every visit"


def test_colleagues_who_look_make_no_file_each_and_its_owner_has_the_newest(run, live, alice, charlie):
    Experiment.objects.filter(pk=run.experiment_id).update(visibility="lab")
    for person, files in ((charlie, 1), (alice, 3)):
        browser = signed_in(person)
        for _time in range(3):
            Run.objects.filter(pk=run.pk).update(last_seq=F("last_seq") + 1)
            browser.post(f"/runs/{run.pk}/files/", {"format": "csv"})
            browser.post(f"/api/runs/{run.pk}/files/", {"format": "csv"}, content_type="application/json")

        assert Export.objects.filter(owner=person).count() == files
    Export.objects.update(state=Export.State.FAILED, ended=timezone.now())
    signed_in(charlie).post(f"/runs/{run.pk}/files/", {"format": "csv"})
    assert sorted(Export.objects.filter(owner=charlie).values_list("state", flat=True)) == ["failed", "queued"]


@pytest.fixture
def shown(played):
    """A run that everybody sees."""
    run = played(max_turns=1)
    everybodys(run.experiment)
    return run


def pages_of(run):
    call, message = run.calls.first(), run.messages.first()
    own = ("", "status/", "news/", "report/html/", "export/jsonl/", "export/csv/")
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
def test_a_run_begun_after_the_approval_is_shown_once_it_is_approved_itself(shown, drive, charlie, cora, alice):
    visitor, [later] = Client(), actions.start(shown.experiment, by=alice)
    drive()
    later.refresh_from_db()

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


def test_its_words_are_found_by_those_who_sign_in(alice, charlie, monkeypatch):
    run, seen = talk(alice, "The dingo of everybody.", title="Dingo talk", visibility="public"), []
    for is_approved in (False, True):
        approved(*[run] * is_approved)
        for few in (1000, 0):
            monkeypatch.setattr(finding, "FEW", few)
            assert found(charlie, "dingo") == ["The dingo of everybody.", "Dingo talk"], few
            seen.append(found(AnonymousUser(), "dingo"))
    assert seen == [["Dingo talk"]] * 2 + [["The dingo of everybody.", "Dingo talk"]] * 2


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


def test_the_figures_of_a_campaign_are_shown_when_all_of_its_runs_are_approved(provider, alice, charlie, woken_runs):
    dataset = demonstration.make_text(alice)
    judge = add_model("sim/judge:first=0")
    config = {"dataset": dataset.slug, "prompt": "text_quality"}
    made = actions.create(owner=alice, workflow="battles", config=config, cast={"judge": {"model": judge.slug}})
    actions.start(made, by=alice)
    Run.objects.filter(experiment=made).update(state="completed")
    Experiment.objects.filter(pk=made.pk).update(visibility="public")
    addresses, run = [f"/experiments/{made.pk}/{page}" for page in ("", "live/")], made.runs.first()

    for address in addresses:
        before = Client().get(address).content.decode()
        assert "not approved yet" in before
        assert "fact-cost" not in before
        assert str(run.pk) not in before
        assert "fact-cost" in signed_in(charlie).get(address).content.decode()
    approved(*made.runs.all())
    for address in addresses:
        after = Client().get(address).content.decode()
        assert ("fact-cost" in after, str(run.pk) in after) == (True, True), address


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


STEERING = {
    actions.stop: {},
    steering.pause: {},
    steering.set_mode: {"mode": "manual"},
    steering.extend: {"max_turns": 5},
    steering.draft: {"key": "turn/1/A/prompt", "text": "Hello"},
}
SIGNED_IN = tuple(who for who in EVERYBODY if who != "visitor")


@pytest.fixture
def lab(alice):
    return lab_of(alice)


@pytest.fixture
def mine(arena):
    return arena()


def seen_by(lab, mine):
    users = {who: lab.browser(who) for who in EVERYBODY}
    return {
        who for who, browser in users.items() if browser.get(f"/experiments/{mine.pk}/values.csv").status_code == 200
    }


@pytest.mark.databases
@each_case(("visibility", "readers"), [("private", ("owner",)), ("lab", SIGNED_IN), ("public", EVERYBODY)])
def test_each_visibility_has_its_readers_who_do_not_steer(lab, mine, start, visibility, readers):
    run = start(mine)
    Experiment.objects.filter(pk=mine.pk).update(visibility=visibility, project=lab.project)
    mine.refresh_from_db()

    assert seen_by(lab, mine) == set(readers)
    Budget.objects.create(experiment=mine, token_limit=1_000, since=timezone.now())
    told = {"owner": 1, "stranger": 0}
    for who in set(told) & set(readers):
        page = lab.browser(who).get(f"/experiments/{mine.pk}/")
        assert len(page.context["budgets"]) == told[who], who
    left = User(pk=lab.people["owner"].pk, is_active=False)
    for nobody in (left, AnonymousUser()):
        assert Experiment.objects.visible_to(nobody).exists() == (visibility == "public")
    steers = {"owner"} if visibility == "private" else {"member", "lead", "owner"}
    assert {who for who, user in lab.people.items() if may_change(mine, user)} == steers
    for who in (*OUTSIDE, "watcher"):
        for verb, how in STEERING.items():
            with pytest.raises(Forbidden):
                verb(run, by=lab.people[who], **how)
    assert Run.objects.get(pk=run.pk).state == Run.State.QUEUED


def test_the_owner_alone_decides_and_those_who_curate_publish_and_withdraw(lab, mine):
    sharing.share(mine, by=lab.people["owner"], visibility="lab")
    for who in SIGNED_IN:
        if who != "owner":
            with pytest.raises(Forbidden):
                sharing.share(mine, by=lab.people[who], visibility="private")
            with pytest.raises(Forbidden):
                sharing.create_link(mine, by=lab.people[who])
    assert Experiment.objects.get(pk=mine.pk).visibility == "lab"
    with pytest.raises(Forbidden, match="curators and administrators"):
        sharing.share(mine, by=lab.people["owner"], visibility="public")

    assert sharing.share(mine, by=lab.people["curator"], visibility="public")
    assert not sharing.share(mine, by=lab.people["admin"], visibility="public"), "it was so already"
    assert sharing.share(mine, by=lab.people["admin"], visibility="lab")

    deeds = list(AuditEntry.objects.order_by("pk").values_list("actor", "action"))
    assert deeds == [("alice", "shared"), ("the-curator", "published"), ("the-admin", "withdrawn")]


def test_an_experiment_set_up_in_a_project_is_seen_by_its_members(lab, mine):
    seats = {seat.seat: {"model": seat.model.slug} for seat in mine.participants.select_related("model")}
    body = {"workflow": "arena", "config": mine.config, "cast": seats, "project": str(lab.project.pk)}

    answer = signed_in(lab.people["owner"]).post("/api/experiments/", body, content_type="application/json")

    assert (answer.status_code, answer.json()["visibility"], answer.json()["project"]) == (
        201,
        "project",
        str(lab.project.pk),
    )
    assert seen_by(lab, Experiment.objects.get(pk=answer.json()["id"])) == set(INSIDE)

    Project.objects.filter(pk=lab.project.pk).update(archived=True)
    for project in (Project.objects.create(name="Theirs"), lab.project):
        with pytest.raises(Invalid):
            sharing.share(mine, by=lab.people["owner"], visibility="project", project=project)
        with pytest.raises(Invalid):
            sharing.checked_project(project.pk, owner=lab.people["owner"])
    assert Experiment.objects.get(pk=mine.pk).project is None, "of others, or archived"


def test_the_lists_of_runs_are_mine_until_i_ask_for_others_and_visitors_are_shown_no_button(lab, mine, start):
    run, browser = start(mine), lab.browser("stranger")
    everybodys(mine)
    Experiment.objects.filter(pk=mine.pk).update(title="An experiment for all")

    assert "An experiment for all" not in browser.get("/runs/").content.decode()
    assert "An experiment for all" in browser.get("/runs/?whose=shared").content.decode()
    assert "An experiment for all" in lab.browser("reviewer").get("/runs/").content.decode()
    page = Client().get(f"/runs/{run.pk}/").content.decode()
    assert "data-may-control" not in page
    assert f"/runs/{run.pk}/stop/" not in page
