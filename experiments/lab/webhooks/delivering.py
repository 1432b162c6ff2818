"""Sends what is due, and writes down what came of it. A sender that is killed leaves its deliveries to the next one.

A webhook that has failed for a day is paused, and its maker is told so by e-mail.
"""

import asyncio
import logging
import random
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from threading import Event
from uuid import UUID

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import F, Min, QuerySet
from django.db.models.functions import Coalesce, Now
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from accounts import audit
from accounts.crypto import Undecipherable, decrypt
from experiments.lab.observing import measuring
from experiments.lab.webhooks import sending
from experiments.lab.webhooks.outbox import wake_now
from experiments.lab.webhooks.sending import Answer, Letter
from experiments.models import Webhook, WebhookDelivery
from experiments.tasks import clock
from experiments.tasks.threads import WorkerThread

logger = logging.getLogger(__name__)

FIRST_WAIT, GROWTH, LONGEST_WAIT = 5.0, 4.0, 6 * 3600.0  # seconds
JITTER = 0.2  # so that those which failed together do not come back together
MOST_TRIES = 11  # a little more than a day
AT_ONCE, AT_ONCE_TO_ONE = 20, 4
LOOK_SECONDS = 0.2
LEAST_FAILURES = 10  # before a webhook is paused
LONGEST_FAILING = timedelta(days=1)

State = WebhookDelivery.State


def send() -> None:
    """The job, which `outbox.SEND` names. Receivers may be slow: a thread of its own waits for them, so that no run,
    file or rating does.
    """
    sender.begin()


def send_all(stop: Event) -> None:
    """Send what is due, until nothing is or the worker is asked to end."""
    while not stop.is_set() and (claimed := _claim()):
        letters = [_letter(delivery) for delivery in claimed]
        answers = asyncio.run(_send(letters, stop))
        for delivery, answer in zip(claimed, answers, strict=True):
            if answer:
                _settle(delivery, answer)
            else:
                _give_back(delivery)


sender = WorkerThread("webhooks", send_all)


def sweep() -> None:
    """Enqueue a job where something is due, delete what is old, and drop what its webhook may not be told any more."""
    waiting = WebhookDelivery.objects.waiting()
    if WebhookDelivery.objects.due().exists():
        wake_now()
    oldest = clock.ago(timedelta(days=settings.WEBHOOK_DAYS))
    old = WebhookDelivery.objects.filter(created__lt=oldest).values_list("pk", flat=True)[:1000]
    WebhookDelivery.objects.filter(pk__in=list(old)).delete()
    waiting.exclude(webhook__in=Webhook.objects.entitled()).update(state=State.DROPPED, ended=Now())
    stale = Webhook.objects.exclude(older_secret="").filter(older_until__lt=Now())
    stale.update(older_secret="", older_until=None)


def wait_after(tries: int) -> float | None:
    """Seconds until the next attempt after so many; None when there shall be none."""
    if tries >= MOST_TRIES:
        return None
    seconds = min(FIRST_WAIT * GROWTH ** (tries - 1), LONGEST_WAIT)
    return seconds * random.uniform(1 - JITTER, 1 + JITTER)


def _claim() -> list[WebhookDelivery]:
    """Some of what is due, and of each address only a few: one that does not answer holds up no other. Until the lease
    of a delivery ends no other sender claims it.
    """
    hooks = WebhookDelivery.objects.due().order_by().values_list("webhook").annotate(first=Min("next_at"))
    until = clock.ahead(timedelta(seconds=settings.WEBHOOK_LEASE_SECONDS))
    claimed = {"attempt": F("attempt") + 1, "tries": F("tries") + 1, "next_at": until}
    found: list[WebhookDelivery] = []
    for hook, _first in hooks.order_by("first")[:AT_ONCE]:
        rows = WebhookDelivery.objects.due().filter(webhook=hook).select_related("webhook").order_by("next_at")
        for row in rows[:AT_ONCE_TO_ONE]:
            if len(found) < AT_ONCE and _held(row).update(**claimed):
                row.attempt, row.tries = row.attempt + 1, row.tries + 1
                found.append(row)
    return found


def _held(delivery: WebhookDelivery) -> QuerySet[WebhookDelivery]:
    """The row, unless another sender has claimed it since it was read."""
    return WebhookDelivery.objects.waiting().filter(pk=delivery.pk, attempt=delivery.attempt)


@sensitive_variables()
def _letter(delivery: WebhookDelivery) -> Letter:
    hook = delivery.webhook
    kept = [hook.secret, *([hook.older_secret] if hook.has_older_secret else [])]
    try:
        secrets = [decrypt(text) for text in kept]
    except Undecipherable:
        secrets = []
    return Letter(str(delivery.pk), hook.url, delivery.body.encode(), hook.allow_private, secrets)


async def _send(letters: Sequence[Letter], stop: Event) -> list[Answer | None]:
    """All of them at once. A worker that is asked to end waits a while for receivers; None for those it gave up."""
    at = timezone.now()
    async with AsyncExitStack() as stack:
        clients = {
            allowed: await stack.enter_async_context(sending.client(allow_private=allowed, at_once=AT_ONCE))
            for allowed in {letter.allow_private for letter in letters}
        }
        tasks = [asyncio.create_task(sending.send(clients[one.allow_private], one, at)) for one in letters]
        left, stopped_at = set(tasks), None
        while left and (stopped_at is None or time.monotonic() - stopped_at < settings.DRAIN_SECONDS):
            _done, left = await asyncio.wait(left, timeout=LOOK_SECONDS)
            stopped_at = stopped_at or (time.monotonic() if stop.is_set() else None)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
    answers: list[Answer | None] = []
    for task in tasks:
        error = None if task.cancelled() else task.exception()
        if error:  # whatever one address makes us stumble over ends this attempt, not the others
            logger.error("a webhook could not be told", exc_info=error)
        answers.append(None if task.cancelled() else Answer(sending.Problem.UNREACHABLE) if error else task.result())
    return answers


def _settle(delivery: WebhookDelivery, answer: Answer) -> None:
    is_over = answer.problem == ""
    is_final = answer.problem == sending.Problem.FORBIDDEN  # another attempt would meet the same rule
    measuring.webhook_told(answer.problem)
    told = {name: getattr(answer, name) for name in ("status", "seconds", "problem")} | {"answer": answer.text}
    wait = None if is_over or is_final else wait_after(delivery.tries)
    if is_over or wait is None:
        told |= {"state": State.DELIVERED if is_over else State.FAILED, "ended": Now()}
    else:
        told |= {"next_at": clock.ahead(timedelta(seconds=wait))}
    with transaction.atomic():
        if _held(delivery).update(**told):
            _count_failures(delivery.webhook_id, is_good=is_over, is_gone=answer.status == sending.GONE)
    level = logging.DEBUG if is_over else logging.INFO
    logger.log(level, "webhook=%s delivery=%s %s %s", delivery.webhook_id, delivery.pk, answer.status, answer.problem)


def _give_back(delivery: WebhookDelivery) -> None:
    _held(delivery).update(next_at=Now(), tries=F("tries") - 1)


def _count_failures(hook_id: UUID, *, is_good: bool, is_gone: bool) -> None:
    row = Webhook.objects.filter(pk=hook_id)
    if is_good:
        row.filter(failures__gt=0).update(failures=0, failing_since=None)
        return
    row.update(failures=F("failures") + 1, failing_since=Coalesce("failing_since", Now()))
    if is_gone:
        _pause(hook_id, Webhook.Pause.GONE)
    elif row.filter(failures__gte=LEAST_FAILURES, failing_since__lte=clock.ago(LONGEST_FAILING)).exists():
        _pause(hook_id, Webhook.Pause.FAILING)


def _pause(hook_id: UUID, reason: Webhook.Pause) -> None:
    paused = {"is_active": False, "paused": Now(), "pause_reason": reason}
    if not Webhook.objects.filter(pk=hook_id, is_active=True).update(**paused):
        return
    hook = Webhook.objects.select_related("owner", "project").get(pk=hook_id)
    audit.record(audit.Action.WEBHOOK_CHANGED, by=None, of=hook, active=False, reason=reason.value)
    if settings.HAS_MAIL and hook.owner.email:  # the page of the webhook says it in any case
        transaction.on_commit(lambda: _send_mail(hook))


def _send_mail(hook: Webhook) -> None:
    with translation.override(hook.owner.language or settings.LANGUAGE_CODE):
        words = render_to_string("webhooks/paused_letter.txt", {"hook": hook})
        try:
            send_mail(_("A webhook is paused"), words, None, [hook.owner.email])
        except OSError as error:  # smtplib's errors are such
            logger.warning("webhook=%s its maker could not be told: %s", hook.pk, type(error).__name__)
