"""What the tests of the leaderboard share."""

import pytest
from django.core.cache import caches

from leaderboard.boards import compute
from tests.leaderboard import boards
from tests.making import maker


@pytest.fixture(autouse=True)
def nothing_remembered():
    caches["memory"].clear()


@pytest.fixture
def curator(db, django_user_model):
    return django_user_model.objects.create(username="curator", role="curator", is_staff=True, is_superuser=True)


@maker
def league(alice, /, **fields):
    """Makes a ladder of Alice's; public unless `visibility` says otherwise."""
    return compute.ensure_ladder(boards.filled(alice, **{"visibility": "public", **fields}))
