"""Projects: made, joined, left and archived; nobody else hears of them."""

from functools import partial

import pytest

from accounts import projects
from accounts.errors import Conflict, Forbidden
from accounts.models import AuditEntry, Membership, Project, User
from tests.fixtures import signed_in
from tests.rivals import at_once

Action = AuditEntry.Action


def role_of(project, person):
    return getattr(Membership.objects.filter(project=project, user=person).first(), "role", None)


def test_whoever_makes_one_leads_it_and_invites_where_the_lab_allows_it(alice, project, entries_of, settings, browser):
    assert role_of(project, alice) == "lead"
    assert entries_of(Action.PROJECT_CREATED)[0].target == f"project:{project.pk}"

    reviewer = User.objects.create_user("rita", role="reviewer")
    with pytest.raises(Forbidden):
        projects.create(by=reviewer, name="Wind")
    assert signed_in(reviewer).post("/projects/new/", {"name": "Wind"}).status_code == 403

    sent = {"role": "researcher", "project_role": "member"}
    assert browser.post(f"{project.get_absolute_url()}invite/", sent).status_code == 403

    settings.SIGNUP = "invite"
    page = browser.post(f"{project.get_absolute_url()}invite/", sent).content.decode()

    assert "http://testserver/invitations/" in page
    assert browser.post(f"{project.get_absolute_url()}invite/", {**sent, "role": "admin"}).status_code == 200
    assert project.invitation_set.count() == 1


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_of_two_leads_who_leave_at_once_one_stays(alice):
    bob = User.objects.create_user("bob")
    project = projects.create(by=alice, name="Solar")
    projects.set_member(project, bob, "lead", by=alice)

    leaving = (partial(projects.remove_member, project, who, by=who) for who in (alice, bob))
    given = at_once(*leaving, refused=Conflict)

    assert [type(error) for error in given if error] == [Conflict]
    assert project.memberships.count() == 1


def test_a_lead_does_it_all_on_the_pages_and_the_last_one_stays(browser, alice, bob, admin, entries_of):
    projects.create(by=bob, name="Wind")
    made = browser.post("/projects/new/", {"name": "Solar", "description": "Panels"})["Location"]
    for path, sent, said in (
        ("members/", {"username": "nobody", "role": "member"}, "No person in the lab has this name"),
        ("members/", {"username": "bob", "role": "king"}, "king"),
        ("change/", {"name": "Wind"}, "with this name"),
    ):
        answer = browser.post(f"{made}{path}", sent)
        assert (answer.status_code, said in answer.content.decode()) == (200, True), said
    browser.post(f"{made}members/", {"username": "bob", "role": "watcher"})
    for _ in range(2):
        browser.post(f"{made}members/{bob.pk}/", {"role": "member"})
    project = Project.objects.get(name="Solar")
    with pytest.raises(Forbidden):
        projects.remove_member(project, alice, by=bob)
    assert ["Add a person" in one.get(made).content.decode() for one in (browser, signed_in(bob))] == [True, False]
    mine = browser.get("/projects/").content.decode()
    assert [words in mine for words in ("Solar", '<td class="number">2</td>', "Wind")] == [True, True, False]

    projects.remove_member(project, bob, by=bob)
    steps = [(entry.detail["before"], entry.detail["after"]) for entry in entries_of(Action.MEMBER_CHANGED)]
    assert steps == [(None, "watcher"), ("watcher", "member"), ("member", None)]
    Membership.objects.create(project=project, user=User.objects.create_user("old", is_active=False), role="lead")
    for change in (projects.remove_member, partial(projects.set_member, role="member")):
        with pytest.raises(Conflict):
            change(project, alice, by=alice)
    answer = browser.post(f"{made}members/{alice.pk}/", {"role": ""}, follow=True)
    assert ("needs a lead" in answer.content.decode(), role_of(project, alice)) == (True, "lead")

    browser.post(f"{made}members/", {"username": "bob", "role": "lead"})
    browser.post(f"{made}change/", {"name": "Solar 2", "description": ""})
    browser.post(f"{made}archive/", {"archived": "1"})
    project.refresh_from_db()
    assert (role_of(project, bob), project.name, project.archived) == ("lead", "Solar 2", True)

    browser.post(f"{made}archive/")
    left = browser.post(f"{made}members/{alice.pk}/", {"role": ""}, follow=True)
    assert left.redirect_chain[-1][0] == "/projects/"
    assert role_of(project, alice) is None

    User.objects.filter(pk=bob.pk).update(is_active=False)
    projects.set_member(project, alice, "lead", by=admin)
    assert role_of(project, alice) == "lead", "an administrator helps where the leads are gone"
    assert signed_in(admin).get(made).status_code == 200
