"""Starting from what somebody has set up: the configuration and the cast, and nothing of the person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from accounts.errors import NotFound
from experiments.models import Experiment, Participant, Run
from experiments.runs import actions
from experiments.workflows import workflow_of
from experiments.workflows.base.events import JsonObject

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

    Person = User | AnonymousUser


@dataclass(frozen=True, slots=True)
class Source:
    """What a set-up form is to be filled with."""

    title: str
    config: JsonObject
    participants: Sequence[Participant]
    people: Mapping[str, dict[str, Any]]


def source(reader: "Person", wanted: str, workflow: str) -> Source:
    """Of an experiment that somebody may see, or of a run with the changes that were made while it was played. wanted:
    the id of either. Raises NotFound.
    """
    try:
        key = UUID(wanted)
    except ValueError as error:
        raise NotFound from error
    seen = Experiment.objects.visible_to(reader).filter(workflow=workflow)
    run = Run.objects.filter(experiment__in=seen, pk=key).select_related("experiment").first()
    experiment = run.experiment if run else seen.filter(pk=key).first()
    if experiment is None:
        raise NotFound
    participants = list(experiment.participants.select_related("model__provider"))
    config = _config(experiment, run.config if run else experiment.stored_config, reader)
    people = _people(experiment, reader)
    return Source(experiment.title, config, participants, people)


def clone(
    experiment: Experiment,
    *,
    by: "User",
    title: str = "",
    config: Mapping[str, Any] | None = None,
    cast: Mapping[str, Any] | None = None,
    project: str = "",
) -> Experiment:
    """A draft of one's own that is set up as this one, which may be seen. config and cast: what is to be otherwise, a
    seat as a whole; None as a seat leaves it to the lab's usual model. Raises as `actions.create`.
    """
    seated = {
        one.seat: {"model": one.model.slug, "persona": one.persona, "params": one.params}
        for one in experiment.participants.select_related("model")
    } | {seat: {"person": person} for seat, person in _people(experiment, by).items()}
    return actions.create(
        owner=by,
        workflow=experiment.workflow,
        title=title or experiment.title,
        config={**_config(experiment, experiment.stored_config, by), **(config or {})},
        cast={seat: one for seat, one in {**seated, **(cast or {})}.items() if one is not None},
        project=project,
    )


def _people(experiment: Experiment, reader: "Person") -> dict[str, dict[str, Any]]:
    """The people by their seats, as they are asked for. An invitation becomes a new one, with a link of its own, and so
    does somebody whom the reader is not told.
    """
    is_owner = experiment.owner_id == reader.pk
    people: dict[str, dict[str, Any]] = {}
    for one in experiment.people.select_related("person"):
        is_told = one.person and (is_owner or not one.is_blind)
        user = one.person.get_username() if one.person and is_told else ""
        name = one.name if is_owner or not one.is_blind else ""
        people[one.seat] = {"user": user, "name": name, "seconds": one.seconds, "blind": one.is_blind}
    return people


def _config(experiment: Experiment, config: Mapping[str, Any], reader: "Person") -> dict[str, Any]:
    private = () if experiment.owner_id == reader.pk else workflow_of(experiment.workflow).private
    return {name: value for name, value in config.items() if name not in private}
