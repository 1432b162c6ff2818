"""Ballots of a council, and the title that it finds."""

from collections.abc import Mapping

from experiments.engine.events import Fact
from experiments.engine.projections import Writer, kept, message_data, message_of, source
from experiments.models import Ballot, Experiment, Message, Run, Step
from experiments.search import indexing
from experiments.serializers import BallotSerializer
from experiments.workflows.base.records import Projection, Record
from experiments.workflows.council import records
from experiments.workflows.council.records import BallotRead, Titled


def _ballot(step: Step, record: Record, finding: BallotRead) -> list[Fact]:
    """A reviewer's ballot takes the place of an earlier one of the same turn."""
    call = source(step, record)
    fields = finding.model_dump(exclude={"type", "message"})
    same = {"run_id": step.run_id, "turn": step.turn or 0, "reviewer": fields.pop("reviewer")}
    earlier = list(Ballot.objects.select_related("step").filter(**same, superseded=False))
    Ballot.objects.filter(pk__in=[ballot.pk for ballot in earlier]).update(superseded=True)
    ballot = Ballot.objects.create(**same, step=step, call=call, model=call.model.label if call else "", **fields)
    return [*map(_superseded_ballot, earlier), _ballot_fact(ballot, finding.message)]


def _superseded_ballot(ballot: Ballot) -> Fact:
    ballot.superseded = True
    review = ballot.step.key.removesuffix("/ballot")
    said = Message.objects.filter(run_id=ballot.run_id, step__key=review).exists()
    return _ballot_fact(ballot, review if said else None)


def _ballot_fact(ballot: Ballot, review: str | None) -> Fact:
    said = message_data(message_of(ballot.step, review)) if review else None
    return Fact("ballot_read", {"ballot": dict(BallotSerializer(ballot).data), "message": said})


def _titled(step: Step, record: Record, finding: Titled) -> list[Fact]:
    """A title that a model found takes the place of the first words; never of one that a person gave."""
    told = kept(step, record)
    experiment = Run.objects.select_related("experiment").get(pk=step.run_id).experiment
    first_words = " ".join(experiment.parsed_config().summary().split())
    if not first_words.startswith(experiment.title.removesuffix("…")):
        return []
    Experiment.objects.filter(pk=experiment.pk).update(title=finding.title)
    indexing.setup(experiment.pk)
    return told


WRITERS: Mapping[Projection, Writer] = {records.BALLOT: _ballot, records.TITLE: _titled}
