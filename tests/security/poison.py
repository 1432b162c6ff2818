"""Every text in the database becomes payloads, but for the words that the platform itself puts there."""

from collections.abc import Iterator
from itertools import cycle
from typing import Any

from django.apps import apps
from django.db import models

from tests.security.payloads import PAYLOADS

APPS = ("accounts", "experiments", "leaderboard")
# What the platform chooses by itself from words of its own, computes, or reads by exact comparison.
SPARED = {
    *("slug", "upstream", "base_url", "api_key_env", "ciphertext", "hint", "secret", "older_secret", "password"),
    *("digest", "token_key", "sha256", "file_sha256", "params_hash", "fingerprint", "folded", "key", "hash"),
    *("workflow", "kind", "purpose", "seat", "judge_seat", "subject", "reviewer", "setter", "judge", "format"),
    *("language", "body", "dimension", "unit"),
    *("mime", "type", "source", "state", "action", "system", "measure", "modality", "origin", "reading", "occasion"),
    *("prompt_version", "version", "prompt", "backend", "comparison", "query", "url", "link", "email", "ballot"),
    *("scopes", "capabilities", "error_kind", "cost_source", "flag", "scanner", "test_outcome", "stop_reason"),
    *("columns", "images", "plan", "cursor", "labels", "order", "layers", "logprobs", "tests", "params", "entry"),
}  # fmt: skip
UNIQUE = {"username", "name"}
PLAIN = {"Contestant.name", "User.username", "SandboxHost.name"}  # no control character and no slash gets in there
ADDED_TO = {"auditentry"}  # what was written there cannot be changed
LONG, SHORT = 12, 3  # payloads of a long text, and of a text in JSON
TITLE = 90  # characters: what is no longer may have to stay short


class Poison:
    """Takes the payloads in turn. used: those that have been put somewhere."""

    def __init__(self) -> None:
        self._source = cycle(PAYLOADS)
        self.used: set[str] = set()

    def poison(self) -> None:
        for model in (model for app in APPS for model in apps.get_app_config(app).get_models()):
            fields = list(texts_of(model))
            for row in model._base_manager.all() if fields else ():
                changed = {field.attname: self._changed(row, field) for field in fields}
                if model._meta.model_name in ADDED_TO:
                    model._base_manager.create(**{**_fields_of(row), **changed})
                else:
                    model._base_manager.filter(pk=row.pk).update(**changed)

    def _changed(self, row: models.Model, field: Any) -> Any:
        old = getattr(row, field.attname)
        if isinstance(field, models.JSONField):
            return self._in_json(old)
        if not old and field.name not in {"note", "notes", "description", "error", "rationale", "reason", "text"}:
            return old
        text = self._texts(LONG) if not field.max_length else self._fitting(field.max_length - 12)
        name = f"{type(row).__name__}.{field.name}"
        if name in PLAIN:
            text = "".join(mark for mark in text if mark.isprintable() and mark not in "/\\")
        return f"{text[: (field.max_length or 10**6) - 12]} {row.pk!s:.10}" if field.name in UNIQUE else text

    def _in_json(self, value: Any) -> Any:
        """Sentences are what somebody wrote; a single word is the platform's."""
        if isinstance(value, dict):
            return {key: self._in_json(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._in_json(inner) for inner in value]
        if not isinstance(value, str) or " " not in value or "$material" in value:  # a prompt needs its placeholders
            return value
        return self._texts(SHORT) if len(value) > TITLE else self._fitting(TITLE)

    def _texts(self, count: int) -> str:
        return "\n\n".join(self._next() for _ in range(count))

    def _fitting(self, length: int) -> str:
        """At least one, and as many as there is room for."""
        text = self._next()
        while len(text) > length:
            text = self._next()
        while len(text) < length - 60:
            text = f"{text} {self._next()}"[:length]
        return text

    def _next(self) -> str:
        payload = next(self._source)
        self.used.add(payload)
        return payload.replace("\x00", "\ufffd")  # what stores text takes no NUL


def texts_of(model: type[models.Model]) -> Iterator[Any]:
    for field in model._meta.concrete_fields:
        if isinstance(field, models.CharField | models.TextField | models.JSONField):
            is_free = not field.choices and not field.primary_key and not isinstance(field, models.SlugField)
            if is_free and field.name not in SPARED and (field.max_length or 100) >= 40:
                yield field


def _fields_of(row: models.Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields if not field.primary_key}
