"""A debate with people in its seats."""

import pytest

from experiments.models import Run, SeatedPerson


@pytest.fixture
def played(debate, start, drive, bob):
    """A debate between Bob in seat A, somebody invited in seat B, and a model."""
    run = start(debate(A={"user": "bob"}, B={"name": "P07", "seconds": 900}, mode="automatic", refine=False))
    drive()
    return Run.objects.with_totals().get(pk=run.pk)


def seat_of(run, seat):
    return SeatedPerson.objects.select_related("experiment", "person").get(experiment=run.experiment, seat=seat)
