"""Reports of errors without secrets: in the mails to administrators, and on the page that `ARENA_DEBUG` shows."""

import json
from types import FrameType
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError
from django.utils.datastructures import MultiValueDict
from django.views.debug import SafeExceptionReporterFilter

SECRETIVE = (
    *("accounts.crypto", "experiments.engine.keys", "experiments.engine.executor", "experiments.lab.keys.keyring"),
    *("experiments.gateway", "experiments.lab.keys.testing", "cryptography", "httpx", "aiohttp", "yarl"),
)
LEAST_SECRET = 4  # characters; what is shorter stands in every second word


class SecretsFilter(SafeExceptionReporterFilter):
    """Django hides what is named like a secret, and only where debugging is off. This hides it always, hides what was
    sent under such a name wherever else it stands, and tells nothing of the variables of code that handles keys.
    """

    def is_active(self, request: HttpRequest | None) -> bool:
        return True

    def get_traceback_frame_variables(self, request: HttpRequest, tb_frame: FrameType) -> Any:
        name = str(tb_frame.f_globals.get("__name__", ""))
        if any(name == one or name.startswith(f"{one}.") for one in SECRETIVE):
            return [(variable, self.cleansed_substitute) for variable in tb_frame.f_locals]
        variables = super().get_traceback_frame_variables(request, tb_frame)
        sent = self._sent_secrets(request)
        return [(variable, self._cleansed(variable, value, sent)) for variable, value in variables]

    def get_post_parameters(self, request: HttpRequest | None) -> Any:
        """Of all forms, whether or not their view says that something in them is sensitive."""
        posted = super().get_post_parameters(request)
        if not isinstance(posted, MultiValueDict):
            return posted
        shown = posted.copy()
        for name in shown:
            if self.hidden_settings.search(name):
                shown[name] = self.cleansed_substitute
        return shown

    def _cleansed(self, name: str, value: Any, secrets: set[str]) -> Any:
        """Anything that is named like a secret, or in whose text form one stands, is left out as a whole."""
        if self.hidden_settings.search(name):
            return self.cleansed_substitute
        if not secrets:
            return value
        try:
            shown = repr(value)
        except Exception:  # the report itself shows that a value has no text form
            return value
        return self.cleansed_substitute if any(secret in shown for secret in secrets) else value

    def _sent_secrets(self, request: HttpRequest | None) -> set[str]:
        """The values that came under names of secrets, in a form or in a JSON object."""
        if request is None:
            return set()
        pairs = [*_form(request), *_json(request)]
        return {text for name, text in pairs if self.hidden_settings.search(name) and len(text) >= LEAST_SECRET}


def _form(request: HttpRequest) -> list[tuple[str, str]]:
    try:
        return [(name, text) for name, texts in request.POST.lists() for text in map(str, texts)]
    except (OSError, SuspiciousOperation, MultiPartParserError):  # what cannot be read is shown nowhere
        return []


def _json(request: HttpRequest) -> list[tuple[str, str]]:
    """Only what has been read already: a stream is not read for a report."""
    body = getattr(request, "_body", b"")
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        return []
    return [(str(name), str(value)) for name, value in sent.items()] if isinstance(sent, dict) else []
