"""The database: an update ends with statistics."""

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models.signals import post_migrate
from django.test.utils import CaptureQueriesContext


@pytest.mark.databases
def test_after_an_update_postgresql_analyzes_its_tables_and_a_new_database_or_nothing_new_is_none(db):
    known = MigrationLoader(connection).disk_migrations
    about = {"app_config": apps.get_app_config("experiments"), "using": "default", "verbosity": 0, "interactive": False}
    for applied in ([], ["0038_callers"], ["0001_squashed_0024_submitted_and_returned", "0038_callers"]):
        plan = [(known["experiments", name], False) for name in applied]
        with CaptureQueriesContext(connection) as asked:
            post_migrate.send(about["app_config"], plan=plan, **about)
        is_analyzed = any(query["sql"] == "ANALYZE" for query in asked.captured_queries)
        assert is_analyzed == (len(applied) == 1 and connection.vendor == "postgresql"), applied
