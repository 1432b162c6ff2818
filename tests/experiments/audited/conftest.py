"""Somebody with things of their own, and somebody who decides."""

from types import SimpleNamespace

import pytest
from django.core.cache import cache

from accounts.models import Membership, Project, User
from experiments.models import Provider
from tests.experiments.reviews import reviewed
from tests.fixtures import PASSWORD, signed_in

KEY = "sk-canary-7f3a9c55e1d24b08"
WRONG = "a-wrong-password-0815"


@pytest.fixture
def lab(db, provider, alice, charlie, settings, tmp_path):
    """Alice's things, and Ada who decides. secrets: what must be in no entry."""
    settings.IMAGES_DIR = tmp_path
    cache.clear()
    alice.set_password(PASSWORD)
    alice.save()
    ada = User.objects.create_user("ada", role="admin", is_staff=True, is_superuser=True)
    run = reviewed.record(alice).run
    project = Project.objects.create(name="Solar villages")
    Membership.objects.create(project=project, user=alice, role="lead")
    made = {"alice": alice, "charlie": charlie, "ada": ada, "run": run, "project": project, "browser": signed_in(alice)}
    made |= {"experiment": run.experiment, "provider": Provider.objects.first()}
    yield SimpleNamespace(**made, secrets=[PASSWORD, WRONG, KEY])
    cache.clear()
