"""Requests that spend money and may be sent twice."""

from django.conf import settings
from django.db import models


class IdempotentRequest(models.Model):
    """What was asked under an `Idempotency-Key`, and the answer that a repetition gets again."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64)
    answer = models.JSONField(default=dict)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "key"], name="idempotency_key_once")]

    def __str__(self) -> str:
        return self.key
