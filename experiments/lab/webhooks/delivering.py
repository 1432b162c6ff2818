"""What is due is claimed, sent, and what came of it written down; what no sender could finish is sent by the next."""

import asyncio
import logging
import random
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from threading import Event

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from accounts.crypto import Undecipherable, decrypt
from experiments.lab.observing import measuring
from experiments.lab.webhooks import pausing, sending
from experiments.lab.webhooks.sending import Answer, Letter
from experiments.lab.webhooks.wake import wake_now
from experiments.models import Webhook, WebhookDelivery
from experiments.tasks import clock

logger = logging.getLogger(__name__)

FIRST_WAIT, GROWTH, LONGEST_WAIT = 5.0, 4.0, 6 * 3600.0  # seconds
JITTER = 0.2  # so that those which failed together do not come back together
MOST_TRIES = 11  # a little more than a day
AT_ONCE, AT_ONCE_TO_ONE = 20, 4
LOOK_SECONDS = 0.2

State = WebhookDelivery.State


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


def sweep() -> None:
    """Ring where something is due, forget what is old, and drop what nobody is entitled to be told any more."""
    waiting = WebhookDelivery.objects.waiting()
    if WebhookDelivery.objects.due().exists():
        wake_now()
    oldest = clock.ago(timedelta(days=settings.WEBHOOK_DAYS))
    old = WebhookDelivery.objects.filter(created__lt=oldest).values("pk")[:1000]
    WebhookDelivery.objects.filter(pk__in=list(old.values_list("pk", flat=True))).delete()
    theirs = waiting.exclude(webhook__in=Webhook.objects.entitled())
    theirs.update(state=State.DROPPED, ended=Now())
    stale = Webhook.objects.exclude(older_secret="").filter(older_until__lt=Now())
    stale.update(older_secret="", older_until=None)


def wait_after(tries: int) -> float | None:
    """Seconds until the next attempt after so many; None when there shall be none."""
    if tries >= MOST_TRIES:
        return None
    seconds = min(FIRST_WAIT * GROWTH ** (tries - 1), LONGEST_WAIT)
    return seconds * random.uniform(1 - JITTER, 1 + JITTER)


def _claim() -> list[WebhookDelivery]:
    """Some of what is due, and of each address only a few: one that does not answer holds up no other."""
    hooks = WebhookDelivery.objects.due().order_by().values_list("webhook").annotate(first=Min("next_at"))
    found: list[WebhookDelivery] = []
    for hook, _first in hooks.order_by("first")[:AT_ONCE]:
        rows = WebhookDelivery.objects.due().filter(webhook=hook).select_related("webhook").order_by("next_at")
        found += [row for row in rows[:AT_ONCE_TO_ONE] if len(found) < AT_ONCE and _taken(row)]
    return found


def _taken(delivery: WebhookDelivery) -> bool:
    """Whether this call did it. Until its lease ends nobody else sends it."""
    until = clock.ahead(timedelta(seconds=settings.WEBHOOK_LEASE_SECONDS))
    mine = WebhookDelivery.objects.waiting().filter(pk=delivery.pk, attempt=delivery.attempt)
    if not mine.update(attempt=F("attempt") + 1, tries=F("tries") + 1, next_at=until):
        return False
    delivery.attempt, delivery.tries = delivery.attempt + 1, delivery.tries + 1
    return True


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
    """All of them at once. A worker that is asked to end hears receivers out for a while; None for those it did not."""
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
    return [_result(task) for task in tasks]


def _result(task: "asyncio.Task[Answer]") -> Answer | None:
    """Whatever one address makes us stumble over ends this attempt, not the others."""
    if task.cancelled():
        return None
    if error := task.exception():
        logger.error("a webhook could not be told", exc_info=error)
        return Answer(sending.Problem.UNREACHABLE)
    return task.result()


def _settle(delivery: WebhookDelivery, answer: Answer) -> None:
    is_over = answer.problem == ""
    measuring.webhook_told(answer.problem)
    told = {name: getattr(answer, name) for name in ("status", "seconds", "problem")} | {"answer": answer.text}
    wait = None if is_over else wait_after(delivery.tries)
    if is_over or wait is None:
        told |= {"state": State.DELIVERED if is_over else State.FAILED, "ended": Now()}
    else:
        told |= {"next_at": clock.ahead(timedelta(seconds=wait))}
    with transaction.atomic():
        if _held(delivery).update(**told):
            pausing.note(delivery.webhook_id, is_good=is_over, is_gone=answer.status == sending.GONE)
    level = logging.DEBUG if is_over else logging.INFO
    logger.log(level, "webhook=%s delivery=%s %s %s", delivery.webhook_id, delivery.pk, answer.status, answer.problem)


def _give_back(delivery: WebhookDelivery) -> None:
    _held(delivery).update(next_at=Now(), tries=F("tries") - 1)


def _held(delivery: WebhookDelivery) -> QuerySet[WebhookDelivery]:
    return WebhookDelivery.objects.waiting().filter(pk=delivery.pk, attempt=delivery.attempt)
