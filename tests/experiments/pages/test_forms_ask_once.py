"""A form offers models at many places, and looks for them once."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.asking import asked_by, once

pytestmark = [pytest.mark.django_db, pytest.mark.databases]


@pytest.mark.parametrize("page", ["/arena/", "/starchamber/", "/council/", "/debate/", "/coding/"])
def test_the_models_of_a_form_are_looked_for_once(browser, page):
    browser.get(page)

    with CaptureQueriesContext(connection) as queries:
        answer = browser.get(page)

    looked = [query["sql"] for query in queries if 'FROM "experiments_provider" WHERE' in query["sql"]]
    assert (answer.status_code, len(looked)) == (200, 1)


def test_each_request_looks_anew():
    counted = []
    with asked_by(None):
        assert [once(counted.append), once(counted.append)] == [None, None]
    with asked_by(None):
        once(counted.append)

    assert len(counted) == 2


def test_where_nobody_asks_nothing_is_kept():
    counted = []
    once(counted.append)
    once(counted.append)

    assert counted == [None, None]
