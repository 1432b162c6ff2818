"""What webhooks are to be told, written in the transaction that makes it true. Nothing is sent from here."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import TextChoices
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from pydantic import JsonValue

from experiments.models import Dataset, Experiment, Export, ReviewQueue, ReviewSlot, Run, Webhook, WebhookDelivery
from experiments.models.ids import new_id
from experiments.tasks import clock, job_queue
from experiments.workflows.base.events import (
    Ending,
    EventData,
    ExperimentStarted,
    JsonObject,
    JudgeEvaluationCompletedData,
    WaitingForUser,
)

QUEUE = "webhooks"
SEND = "experiments.lab.webhooks.delivering.send"  # by its name: the senders are above what enqueues them
MOST_QUEUED = 4  # jobs: each sends all that is due
TOLD = (ExperimentStarted, Ending, WaitingForUser, JudgeEvaluationCompletedData)


class Kind(TextChoices):
    """What a webhook can be told of. docs/api.md says what each carries."""

    RUN_STARTED = "run.started", _("a run has started")
    RUN_WAITING = "run.waiting", _("a run waits for a person")
    RUN_COMPLETED = "run.completed", _("a run is completed")
    RUN_STOPPED = "run.stopped", _("a run was stopped")
    RUN_FAILED = "run.failed", _("a run has failed")
    JUDGMENT_FAILED = "judgment.failed", _("a judge gave no scores")
    BUDGET_REACHED = "budget.reached", _("a budget is used up")
    REVIEW_FINISHED = "review.finished", _("a review queue is finished")
    DATASET_READY = "dataset.ready", _("a dataset is ready")
    DATASET_REFUSED = "dataset.refused", _("a dataset could not be read")
    EXPORT_READY = "export.ready", _("a file of a run is ready")
    EXPORT_FAILED = "export.failed", _("a file of a run could not be made")


TEST = "webhook.test"  # sent by a button, whatever a webhook is told of
PERSONAL = (Kind.DATASET_READY, Kind.DATASET_REFUSED, Kind.EXPORT_READY, Kind.EXPORT_FAILED)  # never of a project
ENDS = {
    Run.State.COMPLETED.value: Kind.RUN_COMPLETED,
    Run.State.STOPPED.value: Kind.RUN_STOPPED,
    Run.State.FAILED.value: Kind.RUN_FAILED,
}


class News(NamedTuple):
    """Something to be told. source: what it comes from, so that it is told once."""

    kind: str
    source: str
    data: Mapping[str, JsonValue]


def tell(owner: int, *news: News, project: UUID | None = None, run: Run | None = None) -> None:
    """To the webhooks of this person, and of the project whose members see it. Call inside a transaction."""
    hooks = Webhook.objects.listening().hearing(owner=owner, project=project)
    _write([(hook, one) for hook in hooks for one in news if one.kind in hook.events], run)


def of_run(run_id: UUID, events: Sequence[tuple[int, EventData]]) -> None:
    """Tell the webhooks of a run what these events, by their numbers, mean. Call inside their transaction."""
    news = [one for seq, told in events if isinstance(told, TOLD) for one in _meaning(f"run:{run_id}:{seq}", told)]
    if not news:
        return
    run = Run.objects.select_related("experiment").get(pk=run_id)
    experiment = run.experiment
    is_private = experiment.visibility == Experiment.Visibility.PRIVATE
    tell(experiment.owner_id, *news, project=None if is_private else experiment.project_id, run=run)


def of_dataset(dataset: Dataset, kind: Kind, upload: str = "") -> None:
    """upload: the file that it was read from, where one was sent. Call inside a transaction."""
    told = {"dataset": dataset.slug, "path": f"/datasets/{dataset.slug}/"}
    tell(dataset.owner_id, News(kind, f"dataset:{dataset.pk}:{upload}:{kind.value}", told))


def of_export(export: Export, kind: Kind) -> None:
    """A file that a worker has made, or could not make. Call inside a transaction."""
    told = {"file": str(export.pk), "format": export.format, "path": f"/files/{export.pk}/"}
    source = f"file:{export.pk}:{export.attempt}:{kind.value}"
    tell(export.owner_id, News(kind, source, told), run=Run.objects.select_related("experiment").get(pk=export.run_id))


def of_queue(queue: ReviewQueue) -> None:
    """Tell it when no place of the queue is left without an answer. Call inside the transaction of an answer."""
    hooks = Webhook.objects.listening().hearing(owner=queue.owner_id, project=queue.project_id)
    if not hooks.exists():
        return
    ReviewQueue.objects.select_for_update().get(pk=queue.pk)  # two last answers at once: the second sees the first
    slots = ReviewSlot.objects.filter(item__queue=queue)
    if not slots.filter(answer__isnull=True).exists():
        count = slots.count()
        told: JsonObject = {"queue": str(queue.pk), "answers": count, "path": f"/review/{queue.pk}/"}
        news = News(Kind.REVIEW_FINISHED, f"queue:{queue.pk}:{count}", told)
        tell(queue.owner_id, news, project=queue.project_id)


def test(hook: Webhook) -> WebhookDelivery:
    """Something to be sent at once, and to be seen in the log."""
    [made] = _write([(hook, News(TEST, f"test:{new_id()}", {}))])
    return made


def _meaning(source: str, told: EventData) -> Iterator[News]:
    """Identities, states and reasons in short; never what anybody has said."""
    match told:
        case ExperimentStarted():
            yield News(Kind.RUN_STARTED, source, {"state": told.state})
        case WaitingForUser():
            yield News(Kind.RUN_WAITING, source, told.model_dump(include={"key", "reason", "seat", "turn"}))
        case JudgeEvaluationCompletedData():
            for number, one in enumerate(told.judgments):
                if one.unscored_reason:
                    about = one.model_dump(include={"turn", "subject"})
                    yield News(Kind.JUDGMENT_FAILED, f"{source}:{number}", {"judgment": one.id, **about})
        case Ending():
            yield News(ENDS[told.state], source, {"state": told.state, "reason": told.reason})
            if budget := told.budget:
                about = {"budget": budget.id, "kind": budget.kind, "period": budget.period}
                yield News(Kind.BUDGET_REACHED, f"{source}:budget", about)


def _write(told: Sequence[tuple[Webhook, News]], run: Run | None = None) -> list[WebhookDelivery]:
    place: dict[str, str | None] = {"run": None, "experiment": None}
    about: dict[str, JsonValue] = {}
    if run:
        place = {"run": str(run.pk), "experiment": str(run.experiment_id)}
        about = {"workflow": run.experiment.workflow, "path": f"/runs/{run.pk}/"}
    rows = []
    for hook, news in told:
        id_, type_ = new_id(), str(news.kind)
        created = timezone.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        payload = {"id": str(id_), "type": type_, "created": created, **place, "data": {**about, **news.data}}
        body = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), default=str)
        fields = {"next_at": clock.now(), "type": type_, "source": news.source, "body": body}
        rows.append(WebhookDelivery(id=id_, webhook=hook, run=run, **fields))
    if rows:
        WebhookDelivery.objects.bulk_create(rows, ignore_conflicts=True)
        wake()
    return rows


def wake() -> None:
    """Enqueue a job that sends once the current transaction is committed; one that is lost costs seconds."""
    transaction.on_commit(wake_now)


def wake_now() -> None:
    job_queue.enqueue(QUEUE, SEND, most=MOST_QUEUED, waiting="a webhook")
