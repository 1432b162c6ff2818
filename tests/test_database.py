"""The database of the tests: every test that commits begins with that of the migrations, whatever thread reads it."""

import asyncio

from django.test import TransactionTestCase


def test_asynchronous_code_reads_the_database_that_was_put_back(transactional_db, django_user_model):
    assert not asyncio.run(django_user_model.objects.aexists())

    TransactionTestCase._fixture_teardown(None)
    django_user_model.objects.create_user("anna")

    assert asyncio.run(django_user_model.objects.aexists())
