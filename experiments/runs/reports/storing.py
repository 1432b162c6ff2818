"""The rows of a run that was recorded elsewhere. Call inside a transaction, with a record that has been checked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils import timezone

from experiments.engine.events import chained
from experiments.engine.projections import Restoring, listed_writers
from experiments.lab.catalog.unlisted import known_or_entered
from experiments.library.search import indexing
from experiments.models import (
    CALLS_UNDER_WAY,
    TERMINAL_STATES,
    Call,
    Event,
    Experiment,
    Judgment,
    Message,
    Participant,
    Run,
    SeatedPerson,
    Step,
)
from experiments.models.ids import new_id
from experiments.models.run import RunOrigin
from experiments.runs import admission, timeline
from experiments.runs.reports.shapes import RecordShape, StepShape

if TYPE_CHECKING:
    from accounts.models import User

UNDER_WAY = "imported_live"
PROVISIONAL_SEQ = 1_000_000_000  # until the events are numbered: beyond what any run has
ROWS_AT_ONCE = 200
AS_IN_RUN = ("seed", "mode", "overrides", "error", "started", "waited_seconds")
AS_IN_STEP = ("key", "kind", "purpose", "seat", "turn", "state", "prompt_version", "ended")
OF_ITS_STEP = {"step", "seat", "turn", "purpose", "prompt_version"}
NOT_AS_IT_IS = {"id", "call", "purpose", "created", "raw_text", "parsed"}  # of a message
MESSAGE = "message-"  # how anchors of messages begin
CUT_OFF = "The run was exported while this call was under way."


def store(record: RecordShape, plan: Sequence[StepShape], owner: "User", origin: RunOrigin) -> Run:
    copy = _Copy(record, owner, origin)
    copy.take_steps(plan)
    copy.take_calls()
    copy.take_messages(plan)
    copy.take_judgments(plan)
    copy.take_own_rows(plan)
    copy.write_events()
    indexing.setup(copy.run.experiment_id)
    indexing.of_run(copy.run.pk)
    return copy.run


class _Copy:
    """One run being written. `ids` leads from the document's ids to the new ones."""

    def __init__(self, record: RecordShape, owner: "User", origin: RunOrigin) -> None:
        self.record = record
        self.steps: dict[str, Step] = {}
        self.calls: dict[UUID, Call] = {}
        cast = [participant.model for participant in record.experiment.cast if participant.model]
        simulated = {call.model for call in record.calls if call.simulated}
        self.models = known_or_entered([*cast, *(call.model for call in record.calls)], simulated)
        self.ids = {str(row.id): str(new_id()) for rows in record.with_ids.values() for row in rows}
        self.run = self._set_up(owner, origin)

    def _set_up(self, owner: "User", origin: RunOrigin) -> Run:
        asked, said = self.record.experiment, self.record.run
        experiment = Experiment.objects.create(
            owner=owner, workflow=asked.workflow, title=asked.title or asked.workflow, config=asked.config
        )
        Participant.objects.bulk_create(
            Participant(
                experiment=experiment,
                seat=participant.seat,
                model=self.models[participant.model],
                persona=participant.persona,
                params=participant.params.model_dump(exclude_none=True),
            )
            for participant in asked.cast
            if participant.model
        )
        SeatedPerson.objects.bulk_create(  # in a run that is over: an invitation that has expired
            SeatedPerson(
                experiment=experiment,
                seat=one.seat,
                name=(one.person.user or one.person.name)[:100],
                seconds=one.person.seconds,
                is_blind=one.person.blind,
                expires=timezone.now(),
            )
            for one in asked.cast
            if one.person
        )
        rows = [message.created for message in self.record.messages] + [call.sent for call in self.record.calls]
        moments = [moment for moment in (*rows, said.started, said.created) if moment]
        is_over = said.state in TERMINAL_STATES
        run = Run.objects.create(
            experiment=experiment,
            origin=origin,
            state=said.state if is_over else Run.State.STOPPED,
            stop_reason=said.stop_reason if is_over else UNDER_WAY,
            ended=said.ended or max(moments, default=timezone.now()),
            **{name: getattr(said, name) for name in AS_IN_RUN},
        )
        if created := said.created or asked.created:
            Run.objects.filter(pk=run.pk).update(created=created)
            run.created = created
        Experiment.objects.filter(pk=experiment.pk).update(created=asked.created or run.created)
        return run

    def take_steps(self, plan: Sequence[StepShape]) -> None:
        rows = [
            Step(run=self.run, data=self._with_new_ids(step.data), **{name: getattr(step, name) for name in AS_IN_STEP})
            for step in plan
        ]
        self.steps = {step.key: step for step in Step.objects.bulk_create(rows, ROWS_AT_ONCE)}

    def take_calls(self) -> None:
        rows = []
        for call in self.record.calls:
            fields = call.model_dump(exclude=OF_ITS_STEP | {"id", "simulated", "sent"})
            fields |= {"id": self.ids[str(call.id)], "model": self.models[call.model], "request": call.request}
            if call.state in CALLS_UNDER_WAY:
                fields |= {"state": Call.State.LOST, "error_kind": "lost", "error": CUT_OFF, "cost_source": "unknown"}
            rows.append(Call(run=self.run, step=self.steps[call.step], **fields))
        for old, new in zip(self.record.calls, Call.objects.bulk_create(rows, ROWS_AT_ONCE), strict=True):
            self.calls[old.id] = new
            new.sent = old.sent or self.run.created
        Call.objects.bulk_update(rows, ["sent"], ROWS_AT_ONCE)

    def take_messages(self, plan: Sequence[StepShape]) -> None:
        step_of = {step.message: self.steps[step.key] for step in plan if step.message}
        self.messages = []
        for number, said in enumerate(self.record.messages):
            fields = said.model_dump(mode="json", exclude=NOT_AS_IT_IS)
            if fields["filter"]:
                fields["filter"]["call"] = self.ids.get(fields["filter"]["call"] or "")
            fields |= {
                "id": self.ids[str(said.id)],
                "seq": PROVISIONAL_SEQ + number,
                "raw_text": said.text if said.raw_text is None else said.raw_text,
                "parsed": said.parsed.model_dump(mode="json", exclude_unset=True) if said.parsed else None,
                "call": self.calls.get(said.call) if said.call else None,
            }
            self.messages.append(Message(run=self.run, step=step_of[said.id], **fields))
        Message.objects.bulk_create(self.messages, ROWS_AT_ONCE)
        for row, said in zip(self.messages, self.record.messages, strict=True):
            row.created = said.created or self.run.created
        Message.objects.bulk_update(self.messages, ["created"], ROWS_AT_ONCE)

    def take_judgments(self, plan: Sequence[StepShape]) -> None:
        step_of = {judgment: step for step in plan for judgment in step.judgments}
        Judgment.objects.bulk_create(
            (
                Judgment(
                    **found.model_dump(exclude={"id"}),
                    id=self.ids[str(found.id)],
                    run=self.run,
                    step=self.steps[step_of[found.id].key],
                    call=self.calls.get(step_of[found.id].source),  # type: ignore[arg-type]  # a source, or nothing, of which there is no call
                )
                for found in self.record.judgments
            ),
            ROWS_AT_ONCE,
        )

    def take_own_rows(self, plan: Sequence[StepShape]) -> None:
        """Those of row writers: a page shows what they say, so before the events are made."""
        step_of = {step.left: self.steps[step.key] for step in plan if step.left}
        into = Restoring(self.run, self.steps, self.ids, self.calls, step_of)
        for listed, writer in listed_writers():
            writer.restore(self.record.rows(listed.name), into)

    def write_events(self) -> None:
        """The events that a page replays: what its rows say, in that order, and the messages in theirs."""
        entries = self._in_order([entry for entry in timeline.from_rows(self.run) if entry])
        moments = {str(message.pk): message.created for message in self.messages}
        created = admission.created(self.run)
        events = [Event(run=self.run, seq=1, type=created.type, data=created.data(), at=self.run.created)]
        at, places = self.run.created, dict[str, int]()
        for seq, shown in enumerate(entries, 2):
            message = _message_of(shown)
            at = max(at, moments.get(message, at))
            data = {**shown.data, "logprobs": None} if "logprobs" in shown.data else shown.data
            events.append(Event(run=self.run, seq=seq, type=shown.type, data=data, at=at))
            places.setdefault(message, seq)
        Event.objects.bulk_create(chained(events), ROWS_AT_ONCE)
        for row in self.messages:
            row.seq = places[str(row.pk)]
        Message.objects.bulk_update(self.messages, ["seq"], ROWS_AT_ONCE)
        Run.objects.filter(pk=self.run.pk).update(last_seq=len(events))
        self.run.last_seq = len(events)

    def _in_order(self, entries: list[timeline.Entry]) -> list[timeline.Entry]:
        """Answers that were given side by side were not said in the order of their steps."""
        said = {message: shown for shown in entries if (message := _message_of(shown))}
        rows = iter([said.pop(str(row.pk)) for row in self.messages])
        return [next(rows) if _message_of(shown) else shown for shown in entries]

    def _with_new_ids(self, value: Any) -> Any:
        """Where the record of a step names a row of the document, it names the new row."""
        if isinstance(value, str):
            return self.ids.get(value, value)
        if isinstance(value, dict):
            return {key: self._with_new_ids(item) for key, item in value.items()}
        return [self._with_new_ids(item) for item in value] if isinstance(value, list) else value


def _message_of(shown: timeline.Entry) -> str:
    """The id of the message in whose place the entry stands; "" for one that stands in no message's."""
    return shown.anchor.removeprefix(MESSAGE) if shown.anchor.startswith(MESSAGE) else ""
