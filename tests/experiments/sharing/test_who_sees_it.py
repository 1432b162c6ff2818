"""An experiment is its owner's until they share it: with a project, with the lab, or with everybody."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.utils import timezone

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry, Project, User
from experiments.models import Budget, Experiment, Run
from experiments.runs import actions
from experiments.runs.admission import may_change
from experiments.runs.sharing import sharing
from experiments.runs.steering import steering
from tests.cases import each_case
from tests.experiments.rights.people import EVERYBODY, INSIDE, OUTSIDE, lab_of
from tests.experiments.sharing.published import everybodys
from tests.fixtures import signed_in

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
def shown(arena):
    return arena()


def seen_by(lab, shown):
    users = {who: lab.browser(who) for who in EVERYBODY}
    return {
        who for who, browser in users.items() if browser.get(f"/experiments/{shown.pk}/values.csv").status_code == 200
    }


@pytest.mark.databases
@each_case(("visibility", "readers"), [("private", ("owner",)), ("lab", SIGNED_IN), ("public", EVERYBODY)])
def test_each_visibility_has_its_readers_who_do_not_steer(lab, shown, start, visibility, readers):
    run = start(shown)
    Experiment.objects.filter(pk=shown.pk).update(visibility=visibility, project=lab.project)
    shown.refresh_from_db()

    assert seen_by(lab, shown) == set(readers)
    Budget.objects.create(experiment=shown, token_limit=1_000, since=timezone.now())
    told = {"owner": 1, "stranger": 0}
    for who in set(told) & set(readers):
        page = lab.browser(who).get(f"/experiments/{shown.pk}/")
        assert len(page.context["budgets"]) == told[who], who
    left = User(pk=lab.people["owner"].pk, is_active=False)
    for nobody in (left, AnonymousUser()):
        assert Experiment.objects.visible_to(nobody).exists() == (visibility == "public")
    steers = {"owner"} if visibility == "private" else {"member", "lead", "owner"}
    assert {who for who, user in lab.people.items() if may_change(shown, user)} == steers
    for who in (*OUTSIDE, "watcher"):
        for verb, how in STEERING.items():
            with pytest.raises(Forbidden):
                verb(run, by=lab.people[who], **how)
    assert Run.objects.get(pk=run.pk).state == Run.State.QUEUED


def test_the_owner_alone_decides_and_those_who_curate_publish_and_withdraw(lab, shown):
    sharing.share(shown, by=lab.people["owner"], visibility="lab")
    for who in SIGNED_IN:
        if who != "owner":
            with pytest.raises(Forbidden):
                sharing.share(shown, by=lab.people[who], visibility="private")
            with pytest.raises(Forbidden):
                sharing.create_link(shown, by=lab.people[who])
    assert Experiment.objects.get(pk=shown.pk).visibility == "lab"
    with pytest.raises(Forbidden, match="curators and administrators"):
        sharing.share(shown, by=lab.people["owner"], visibility="public")

    assert sharing.share(shown, by=lab.people["curator"], visibility="public")
    assert not sharing.share(shown, by=lab.people["admin"], visibility="public"), "it was so already"
    assert sharing.share(shown, by=lab.people["admin"], visibility="lab")

    deeds = list(AuditEntry.objects.order_by("pk").values_list("actor", "action"))
    assert deeds == [("alice", "shared"), ("the-curator", "published"), ("the-admin", "withdrawn")]


def test_an_experiment_set_up_in_a_project_is_seen_by_its_members(lab, shown):
    seats = {seat.seat: {"model": seat.model.slug} for seat in shown.participants.select_related("model")}
    body = {"workflow": "arena", "config": shown.config, "cast": seats, "project": str(lab.project.pk)}

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
            sharing.share(shown, by=lab.people["owner"], visibility="project", project=project)
        with pytest.raises(Invalid):
            sharing.checked_project(project.pk, owner=lab.people["owner"])
    assert Experiment.objects.get(pk=shown.pk).project is None, "of others, or archived"


def test_the_lists_of_runs_are_mine_until_i_ask_for_others_and_visitors_are_shown_no_button(lab, shown, start):
    run, browser = start(shown), lab.browser("stranger")
    everybodys(shown)
    Experiment.objects.filter(pk=shown.pk).update(title="An experiment for all")

    assert "An experiment for all" not in browser.get("/runs/").content.decode()
    assert "An experiment for all" in browser.get("/runs/?whose=shared").content.decode()
    assert "An experiment for all" in lab.browser("reviewer").get("/runs/").content.decode()
    page = Client().get(f"/runs/{run.pk}/").content.decode()
    assert "data-may-control" not in page
    assert f"/runs/{run.pk}/stop/" not in page
