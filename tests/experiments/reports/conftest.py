"""Runs and their documents."""

import json

import pytest
from rest_framework.utils.encoders import JSONEncoder

from experiments.models import Run
from experiments.runs.reports.document import document


@pytest.fixture
def with_totals():
    return lambda run: Run.objects.with_totals().select_related("experiment").get(pk=run.pk)


@pytest.fixture
def exported(with_totals):
    return lambda run: json.loads(json.dumps(document(with_totals(run)), cls=JSONEncoder))
