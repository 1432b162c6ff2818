"""Everybody whom an experiment of Alice's, shared with a project, may meet."""

from dataclasses import dataclass
from typing import Any

from django.test import Client

from accounts.models import Membership, Project, User
from tests.fixtures import signed_in

VISITOR = "visitor"
OUTSIDE = ("stranger", "reviewer", "curator", "admin")  # signed in, and not of the project
INSIDE = ("watcher", "member", "lead", "owner")
EVERYBODY = (VISITOR, *OUTSIDE, *INSIDE)
ROLES = {"stranger": "researcher", "reviewer": "reviewer", "curator": "curator", "admin": "admin"}


@dataclass(frozen=True)
class Lab:
    project: Project
    people: dict[str, User]

    def browser(self, who: str) -> Client:
        return Client() if who == VISITOR else signed_in(self.people[who])


def lab_of(owner: User) -> Lab:
    """A project that belongs to nobody outside, with one person in each place of it, and one of each role beside it."""
    project = Project.objects.create(name="Solar villages")
    people = {"owner": owner}
    for who in ("watcher", "member", "lead"):
        people[who] = _person(who, "researcher")
        Membership.objects.create(project=project, user=people[who], role=who)
    Membership.objects.create(project=project, user=owner, role=Membership.Role.MEMBER)
    return Lab(project, people | {who: _person(who, role) for who, role in ROLES.items()})


def _person(name: str, role: str) -> Any:
    is_admin = role == "admin"
    return User.objects.create_user(f"the-{name}", role=role, is_staff=is_admin, is_superuser=is_admin)
