"""Alice has runs, in the project of Mia, a member; Will watches it; Charlie must see nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Membership, Project
from experiments.models import Experiment, Run
from tests.experiments.api.conftest import nobody_is_woken
from tests.experiments.reports.records import Record
from tests.making import maker

__all__ = ["nobody_is_woken"]


@pytest.fixture
def project(alice: Any) -> Project:
    made = Project.objects.create(name="Solar villages")
    Membership.objects.create(project=made, user=alice, role="lead")
    return made


@pytest.fixture
def mia(project: Project, django_user_model: Any) -> Any:
    person = django_user_model.objects.create_user("mia")
    Membership.objects.create(project=project, user=person, role="member")
    return person


@pytest.fixture
def will(project: Project, django_user_model: Any) -> Any:
    person = django_user_model.objects.create_user("will")
    Membership.objects.create(project=project, user=person, role="watcher")
    return person


@maker
def talk(alice: Any, /, *texts: str, owner: Any = None, **fields: Any) -> Run:
    """Makes a run of Alice's, in which A and B say these texts in turns."""
    record = Record(owner or alice)
    for place, text in enumerate(texts or ("I offer seven panels.", "I want nine.")):
        record.reply("AB"[place % 2], place // 2 + 1, text)
    if fields:
        Experiment.objects.filter(pk=record.run.experiment_id).update(**fields)
    return Run.objects.select_related("experiment").get(pk=record.run.pk)


@pytest.fixture
def shared(talk: Callable[..., Run], project: Project) -> Run:
    """A run that the project sees."""
    return talk(project=project, visibility="project")
