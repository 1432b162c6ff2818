"""Somebody with things of their own, and somebody who decides."""

from types import SimpleNamespace

import pytest

from accounts.models import Membership, Project
from experiments.models import Provider
from tests.experiments.reviews import reviewed
from tests.fixtures import PASSWORD, signed_in

KEY = "sk-canary-7f3a9c55e1d24b08"
WRONG = "a-wrong-password-0815"


@pytest.fixture
def lab(provider, alice, charlie, admin, settings, tmp_path):
    """Alice's things, and Ada who decides. secrets: what must be in no entry."""
    settings.IMAGES_DIR = tmp_path
    run = reviewed.record(alice).run
    project = Project.objects.create(name="Solar villages")
    Membership.objects.create(project=project, user=alice, role="lead")
    people = {"alice": alice, "charlie": charlie, "ada": admin, "browser": signed_in(alice)}
    things = {"run": run, "experiment": run.experiment, "project": project, "provider": Provider.objects.first()}
    return SimpleNamespace(**people, **things, secrets=[PASSWORD, WRONG, KEY])
