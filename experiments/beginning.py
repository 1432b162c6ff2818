"""From a form that was filled in to runs under way, or to the same form with what was wrong."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.http import HttpRequest

from accounts.people import person
from experiments import actions
from experiments.casting import InvalidExperiment
from experiments.forms import SetupForm
from experiments.models import Run
from experiments.refusals import NotAllowed


def begin(request: HttpRequest, form: SetupForm, workflow: str, asked: Callable[[], dict[str, Any]]) -> list[Run]:
    """Create what was asked for (as `actions.create` takes it) and start it: both, or nothing. Nothing begun: the form
    was not sent, or it complains.
    """
    if request.method != "POST" or not form.is_valid():
        return []
    try:
        with transaction.atomic():
            project = request.POST.get("project", "")
            experiment = actions.create(owner=person(request), workflow=workflow, project=project, **asked())
            return actions.start(experiment, by=person(request), repeats=getattr(form, "runs", 1))
    except InvalidExperiment as error:
        form.complain(error)
    except NotAllowed as error:
        form.add_error(None, str(error))
    return []
