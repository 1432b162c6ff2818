"""Sends the calls that wait for a batch together, and fetches their answers: work in the background, in a thread of
each worker that drives runs. It writes answers down, and neither a message, a step nor an event: the run's driver does.

A batch is written down before anything is sent, and names itself in the provider's metadata: whoever takes it over from
a worker that died looks there before it sends anything again.
"""

import asyncio
import logging
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, QuerySet
from django.db.models.functions import Now

from experiments.engine import batches, jobs, keys
from experiments.engine.events import reserve_numbers
from experiments.engine.pauses import rested
from experiments.gateway import (
    BadKey,
    Client,
    GatewayError,
    NeedsPerson,
    OutcomeUnknown,
    RateLimited,
    Unreachable,
    guarded_transport,
)
from experiments.gateway import batches as remote
from experiments.gateway.batches import RemoteBatch
from experiments.models import Batch, BatchedCall, Call, Run
from experiments.tasks import clock
from experiments.tasks.threads import WorkerThread

logger = logging.getLogger(__name__)

MOST_LINES, MOST_BYTES = 2_000, 50 << 20  # of one batch
AT_ONCE = 20  # batches that one look takes
CLAIM_SECONDS = 1_200.0  # a worker that was silent for so long has died
GROWTH, LONGEST_PAUSE = 1.3, 600.0  # of the pause between two looks, in seconds
GIVE_UP_UNSENT = timedelta(days=1)
GIVE_UP = timedelta(days=2)  # twice as long as a batch may take

State = Batch.State


def advance(stop: threading.Event) -> None:
    """Gather what waits, send what is gathered, and fetch what is done, as far as it is time."""
    gather()
    for batch in _claimed():
        if stop.is_set():
            Batch.objects.filter(pk=batch.pk, tries=batch.tries).update(next_at=Now())
            continue
        try:
            _poll(batch) if batch.state == State.SENT else _send(batch)
        except GatewayError as error:
            logger.warning("batch=%s: %s", batch.pk, error)
            _try_later(batch, error)


sender = WorkerThread("batches", lambda _: advance(jobs.stop_requested))


def sweep() -> None:
    """Begin, where anything is due."""
    if Batch.objects.due().exists() or _ungathered().exists():
        sender.begin()


# --- gathering ---


def _ungathered() -> QuerySet[BatchedCall]:
    return BatchedCall.objects.filter(batch__isnull=True, ended__isnull=True, call__state=Call.State.BATCHED)


def gather() -> None:
    """Put calls of one model and one owner into a batch, once the first of them has waited for the others."""
    groups = _ungathered().order_by().values_list("call__model", "call__run__experiment__owner")
    patience = timedelta(seconds=settings.BATCH_GATHER_SECONDS)
    for model, owner, first in groups.annotate(first=Min("call__sent")):
        if first + patience <= clock.now():
            _gather(model, owner)


def _gather(model: int, owner: int) -> None:
    mine = _ungathered().filter(call__model=model, call__run__experiment__owner=owner)
    with transaction.atomic():
        waiting = list(mine.order_by("call__sent", "call").values_list("pk", flat=True)[:MOST_LINES])
        batch = Batch.objects.create(model_id=model, owner_id=owner)
        count = BatchedCall.objects.filter(pk__in=waiting, batch__isnull=True, ended__isnull=True).update(batch=batch)
        if not count:  # another worker was faster
            transaction.set_rollback(True)
            return
        Batch.objects.filter(pk=batch.pk).update(total=count)


# --- one batch: a worker that has claimed it sends it, or looks how far it is ---


def _claimed() -> Iterator[Batch]:
    due = Batch.objects.due().select_related("model__provider", "owner").order_by("next_at")
    for batch in due[:AT_ONCE]:
        until = clock.ahead(timedelta(seconds=CLAIM_SECONDS))
        if Batch.objects.due().filter(pk=batch.pk, tries=batch.tries).update(tries=F("tries") + 1, next_at=until):
            batch.tries += 1
            yield batch


def _mine(batch: Batch) -> QuerySet[Batch]:
    """The row, as long as no other worker has claimed it."""
    return Batch.objects.filter(pk=batch.pk, tries=batch.tries)


def _try_later(batch: Batch, error: GatewayError | None = None) -> None:
    """After a pause that grows; not any more after days, when nothing can be expected."""
    began, patience = (batch.sent, GIVE_UP) if batch.sent else (batch.created, GIVE_UP_UNSENT)
    if clock.now() - began > patience:
        unknown = OutcomeUnknown("The batch did not end in time: whether it was billed is not known.")
        _end(batch, {}, error if error and batch.state == State.NEW else unknown)
        return
    pause = min(LONGEST_PAUSE, settings.BATCH_POLL_SECONDS * GROWTH ** min(batch.tries - 1, 50))
    _mine(batch).update(next_at=clock.ahead(timedelta(seconds=pause)), problem=str(error or "")[:400])


def _send(batch: Batch) -> None:
    """Raises a GatewayError where it is to be tried again."""
    may_be_there = batch.state == State.SENDING  # begun by a worker that died, or whose outcome is not known
    lines = _begin_sending(batch)
    if lines is None:
        return
    try:
        key = keys.key_for(batch.model.provider, batch.owner_id)
    except keys.NoKey as error:
        if may_be_there:
            raise BadKey(str(error)) from error
        _end(batch, {}, BadKey(str(error)))
        return
    try:
        sent = asyncio.run(_sent(batch, key.text, list(lines.values()), may_be_there=may_be_there))
    except _NotCreated as refusal:
        if isinstance(refusal.error, NeedsPerson):
            _end(batch, {}, refusal.error)
            return
        _mine(batch).update(state=State.NEW)
        batch.state = State.NEW
        raise refusal.error from refusal
    if sent is None:
        _end(batch, {}, None)
        return
    pause = timedelta(seconds=settings.BATCH_POLL_SECONDS)
    told = {"state": State.SENT, "remote_id": sent.id, "sent": Now(), "problem": "", "next_at": clock.ahead(pause)}
    _mine(batch).update(tries=1, **told)
    logger.info("batch=%s sent as %s with %s calls", batch.pk, sent.id, len(lines))
    for run_id in dict.fromkeys(BatchedCall.objects.filter(batch=batch).values_list("call__run", flat=True)):
        keys.note_use(key, run_id, batch.owner)


def _begin_sending(batch: Batch) -> dict[UUID, bytes] | None:
    """The lines that are still wanted, of which none is withdrawn from now on. None where the claim is lost."""
    with transaction.atomic():
        if Batch.objects.select_for_update().filter(pk=batch.pk, tries=batch.tries).first() is None:
            return None
        _mine(batch).update(state=State.SENDING)
        batch.state = State.SENDING
        wanted = BatchedCall.objects.filter(batch=batch, ended__isnull=True).order_by("call")
        rows = list(wanted.values_list("call_id", "call__request"))
        lines, size = dict[UUID, bytes](), 0
        for call_id, body in rows:
            line = remote.line_of(str(call_id), body)
            size += len(line)
            if lines and size > MOST_BYTES:
                break
            lines[call_id] = line
        if rest := [call_id for call_id, _body in rows if call_id not in lines]:  # they go with the next one
            BatchedCall.objects.filter(pk__in=rest).update(batch=None)
        _mine(batch).update(total=len(lines))
    return lines


class _NotCreated(Exception):
    """The provider has no such batch, and so runs nothing of it. error: why."""

    def __init__(self, error: GatewayError) -> None:
        super().__init__(str(error))
        self.error = error


async def _sent(batch: Batch, key: str, lines: list[bytes], *, may_be_there: bool) -> RemoteBatch | None:
    """The batch at the provider; None where nothing is left to be sent. Raises _NotCreated, and a GatewayError where it
    is not known whether it was created.
    """
    async with guarded_transport(allow_private=batch.model.provider.allow_private) as transport:
        client = Client(batch.model.provider.base_url, key, transport)
        if may_be_there and (found := await remote.find(client, str(batch.pk))):
            return found
        if not lines:
            return None
        try:
            file_id = await remote.upload(client, lines)
        except GatewayError as error:
            raise _NotCreated(error) from error
        try:
            return await remote.create(client, file_id, str(batch.pk))
        except (NeedsPerson, RateLimited, Unreachable) as error:
            raise _NotCreated(error) from error


def _poll(batch: Batch) -> None:
    """Raises a GatewayError where it is to be tried again."""
    try:
        key = keys.key_for(batch.model.provider, batch.owner_id)
    except keys.NoKey as error:
        raise BadKey(str(error)) from error
    found, lines = asyncio.run(_fetched(batch, key.text))
    _mine(batch).update(done=found.done, total=found.total or batch.total)
    if found.stage == "going":
        _try_later(batch)
    else:
        _end(batch, lines, remote.missing(found))


async def _fetched(batch: Batch, key: str) -> tuple[RemoteBatch, dict[str, str]]:
    """How far it is, with all that came back once it has ended."""
    async with guarded_transport(allow_private=batch.model.provider.allow_private) as transport:
        client = Client(batch.model.provider.base_url, key, transport)
        found = await remote.look(client, batch.remote_id)
        return found, await remote.answers(client, found) if found.stage == "ended" else {}


# --- its end ---


def _end(batch: Batch, lines: Mapping[str, str], missing: GatewayError | None) -> None:
    """Store what came back, run by run; then the batch has ended. Whoever dies in between does it again, for what is
    left. missing: of the calls without a line.
    """
    by_run: dict[UUID, list[UUID]] = defaultdict(list)
    left = BatchedCall.objects.filter(batch=batch, ended__isnull=True)
    for call_id, run_id in left.values_list("call_id", "call__run_id"):
        by_run[run_id].append(call_id)
    for run_id, calls in by_run.items():
        _store(run_id, calls, lines, missing)
    problem = str(missing)[:400] if missing and len(lines) < sum(map(len, by_run.values())) else ""
    _mine(batch).update(state=State.ENDED, ended=Now(), problem=problem)
    logger.info("batch=%s has ended: %s answers for %s runs", batch.pk, len(lines), len(by_run))


def _store(run_id: UUID, calls: list[UUID], lines: Mapping[str, str], missing: GatewayError | None) -> None:
    """What came back for a run's calls. A run that waits goes on; of one that has ended, the calls have what they cost
    and what was said.
    """
    with transaction.atomic():
        reserve_numbers(run_id, 0)
        rows = BatchedCall.objects.filter(pk__in=calls, ended__isnull=True)
        for row in rows.select_related("call__step", "call__model__provider", "call__price"):
            answer = lines.get(str(row.call_id), "")
            is_new = batches.ended_now(row, answer=answer, error=None if answer else missing)
            if is_new and row.call.state != Call.State.BATCHED:
                batches.record_late(row)
        run = Run.objects.filter(pk=run_id).first()
        if run and run.move(Run.State.QUEUED, from_=(Run.State.WAITING,), fields=rested(run)):
            jobs.wake(run.pk)
