"""Runs as curators have let them through."""

from django.utils import timezone

from experiments.models import Experiment, Run, RunReview


def approved(*runs: Run) -> None:
    """Looked at by a curator and found fit to be shown."""
    for run in runs:
        RunReview.objects.update_or_create(run=run, defaults={"approved": timezone.now()})


def everybodys(experiment: Experiment) -> None:
    """The experiment is shown to everybody, with the runs it has."""
    approved(*experiment.runs.all())
    Experiment.objects.filter(pk=experiment.pk).update(visibility=Experiment.Visibility.PUBLIC)
