"""An address that has failed for a day is left alone, and its maker is told so."""

import logging
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce, Now
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from accounts import audit
from experiments.models import Webhook
from experiments.tasks import clock

logger = logging.getLogger(__name__)

LEAST_FAILURES = 10
LONGEST_FAILING = timedelta(days=1)


def note(hook_id: UUID, *, is_good: bool, is_gone: bool) -> None:
    """What came of an attempt. Call inside a transaction."""
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
    told = {"is_active": False, "paused": Now(), "pause_reason": reason}
    if not Webhook.objects.filter(pk=hook_id, is_active=True).update(**told):
        return
    hook = Webhook.objects.select_related("owner", "project").get(pk=hook_id)
    audit.record(audit.Action.WEBHOOK_CHANGED, by=None, of=hook, active=False, reason=reason.value)
    transaction.on_commit(lambda: _tell(hook))


def _tell(hook: Webhook) -> None:
    """By e-mail where there is a mail server; the page of the webhook says it in any case."""
    if not (settings.HAS_MAIL and hook.owner.email):
        return
    with translation.override(hook.owner.language or settings.LANGUAGE_CODE):
        words = render_to_string("webhooks/paused_letter.txt", {"hook": hook})
        try:
            send_mail(_("A webhook is paused"), words, None, [hook.owner.email])
        except OSError as error:  # smtplib's errors are such
            logger.warning("webhook=%s its maker could not be told: %s", hook.pk, type(error).__name__)
