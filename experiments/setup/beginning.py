"""From a form that was filled in to runs under way, or to the same form with what was wrong."""

from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse

from accounts.people import person
from accounts.refusing import ShownIn
from experiments.runs import actions
from experiments.setup.forms import DeclaredForm
from experiments.workflows import REGISTRY


def begin(request: HttpRequest, form: DeclaredForm) -> str:
    """Create what was asked for and start it: both, or nothing. The address of what was begun; "" where nothing was:
    the form complains.
    """
    if not form.is_valid():
        return ""
    by = person(request)
    with ShownIn(form):
        with transaction.atomic():
            project = request.POST.get("project", "")
            experiment = actions.create(owner=by, workflow=form.workflow, project=project, **form.asked())
            runs = actions.start(experiment, by=by, repeats=form.runs)
        is_one = len(runs) == 1 and not REGISTRY[form.workflow].is_sharded
        return runs[0].get_absolute_url() if is_one else reverse("experiment", args=[experiment.pk])
    return ""
