"""What the page of a council needs beside the run: events in their places, rankings, figures, and what is queued."""

from collections.abc import Sequence

from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from experiments.models import Run, Step
from experiments.runs.timeline import Entry
from experiments.workflows.council.pages import cast as council_cast
from experiments.workflows.council.pages import figures as council_figures
from experiments.workflows.council.pages.rankings import ranking


def context(reader: User | AnonymousUser, run: Run, entries: Sequence[Entry]) -> dict[str, object]:
    """cast: labels by seat. rankings: by anchor of the count. queued: questions to come."""
    cast = run.experiment.labels
    counted = [entry for entry in entries if entry.type == "ballots_counted"]
    return {
        "cast": cast,
        "members": council_cast.members(cast),
        "chairs": council_cast.chairs(cast),
        "rankings": {entry.anchor: ranking(entry.data) for entry in counted},
        "figures": council_figures.of(run),
        "queued": queued(run),
        "offer": next((entry.data for entry in entries if entry.type == "offer_opened"), None),
    }


def queued(run: Run) -> list[Step]:
    """The questions that were asked while earlier ones were being answered, and have not been taken up."""
    begun = run.steps.filter(purpose="turn_started").count()
    said = run.steps.filter(kind="offer", state=Step.State.DONE, turn__gte=begun).order_by("turn", "id")
    return [step for step in said if step.data.get("action") == "send"]
