"""What can go wrong with a call, as a tree by what the caller can do about it; and how answers are sorted into it."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from experiments.gateway.redaction import LEAST, redact, without_torn_end
from experiments.gateway.streaming import ErrorBody, read_error
from experiments.gateway.types import Completion

SHORTEST, LONGEST = 1.0, 120.0
_GO_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?", re.ASCII)
_RESETS = ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens", "x-ratelimit-reset")
EXCERPT_CHARACTERS = 300
EXCERPT_READ = 20_000
TORN = 16  # characters, at most, in which one character of a key may be written
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_KEY = re.compile(r"\b(sk|pk|gsk|xai|key|hf)[-_][\w-]{8,}|(?<=Bearer )\S+", re.ASCII)
_USER_INFO = re.compile(r"//[^/@]*@")
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,300})", re.IGNORECASE)
_CONTEXT = re.compile(
    r"context.?length|context.?window|context.?size|maximum context|prompt.{0,20} too long|input.{0,20} too long"
    r"|too many (input )?tokens|exceeds? the (available|model'?s) context|n_ctx",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient.?(quota|balance|credits?|funds)|credit.?balance|billing.?(hard.?limit|not.?active)", re.IGNORECASE
)
_WRONG_KEY = re.compile(
    r"(invalid|incorrect|missing|expired|revoked|no).{0,12}(api|auth\w{0,20}|access).?(key|token)|(api|auth\w{0,20}).?key.{0,20}"
    r"(invalid|not valid|not found|expired)|authentication.?error|unauthori[sz]ed",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model.?not.?found|(unknown|no such|invalid) model|model((?!model).){0,80}(does not exist|not found|not a valid)",
    re.IGNORECASE,
)
_WORD_STATUS = (
    (re.compile(r"rate.?limit|too.?many.?requests|resource_exhausted", re.IGNORECASE), 429),
    (re.compile(r"overloaded|unavailable|server.?error|internal|timeout", re.IGNORECASE), 503),
    (re.compile(r"payment.?required", re.IGNORECASE), 402),
    (re.compile(r"permission|forbidden|moderation|content.?policy", re.IGNORECASE), 403),
    (re.compile(r"invalid.?request|bad.?request|validation", re.IGNORECASE), 400),
)


class GatewayError(Exception):
    """A call that gave no usable completion.

    status: the HTTP status, or the code inside an error body; None where there was none. retry_after: seconds, clamped
    to 1-120. partial: the text that arrived before the failure, None when nothing did. Messages never contain a key.
    """

    kind = "error"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        partial: Completion | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.partial = partial


class TryLater(GatewayError):
    """The same request may succeed in a while."""

    kind = "try_later"


class RateLimited(TryLater):
    kind = "rate_limited"


class Overloaded(TryLater):
    """The provider failed on its side (5xx, 408) before any content."""

    kind = "overloaded"


class Unreachable(TryLater):
    """No connection: refused, DNS, TLS."""

    kind = "unreachable"


class Interrupted(TryLater):
    """Content had begun, then the stream broke, stalled or ended without a finish reason. May have been billed."""

    kind = "interrupted"


class OutcomeUnknown(TryLater):
    """Sent, and nothing came back in time: the provider may have done (and billed) the work."""

    kind = "outcome_unknown"


class BatchExpired(TryLater):
    """A batch ended before the provider came to this request: it was not run, and is not billed."""

    kind = "batch_expired"


class NeedsPerson(GatewayError):
    """Repeating the request cannot help until a person changes something."""

    kind = "needs_person"


class BadKey(NeedsPerson):
    kind = "bad_key"


class OutOfCredit(NeedsPerson):
    kind = "out_of_credit"


class UnknownModel(NeedsPerson):
    kind = "unknown_model"


class Refused(NeedsPerson):
    """The provider rejects this request: malformed, too long, moderated, an unsupported parameter."""

    kind = "refused"


class ContextExceeded(Refused):
    kind = "context_exceeded"


class NoImages(Refused):
    """The prompt holds images, and the model accepts none. Nothing was sent."""

    kind = "no_images"


class NoMaterial(NeedsPerson):
    """What was to be shown to the model is missing, or cannot be read. Nothing was sent."""

    kind = "no_material"


class ForbiddenAddress(NeedsPerson):
    """The provider's address resolves to a private range that the administrator did not allow."""

    kind = "forbidden_address"


class ToolCall(NeedsPerson):
    """The model called a tool, which it was not offered, and wrote no text."""

    kind = "tool_call"


class BadAnswer(GatewayError):
    """An answer that is no chat completion: wrong type, not parseable, over a byte limit. Not repeated by itself."""

    kind = "bad_answer"


class EmptyAnswer(BadAnswer):
    """A well-formed answer without text: nothing, or reasoning only."""

    kind = "empty_answer"


def of_kind(kind: str, message: str) -> GatewayError:
    """The error of this kind, as it was stored."""
    found: list[type[GatewayError]] = [GatewayError]
    for one in found:
        if one.kind == kind:
            return one(message)
        found += one.__subclasses__()
    return GatewayError(message)


# --- how long a provider asks to wait ---


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait, clamped to 1-120; None when the provider says nothing usable.

    `Retry-After` (seconds or an HTTP date) is what the provider asks for and wins; without it the larger of the
    x-ratelimit-reset times counts. Header names are matched in lower case; `now` is aware.
    """
    asked = _seconds(headers.get("retry-after-ms"), unit=0.001)
    if asked is None:
        asked = _seconds_or_date(headers.get("retry-after"), now)
    if asked is None:
        resets = [reset for name in _RESETS if (reset := _reset(headers.get(name), now)) is not None]
        asked = max(resets, default=None)
    return None if asked is None else min(LONGEST, max(SHORTEST, asked))


def _seconds(value: str | None, unit: float = 1.0) -> float | None:
    """A number of seconds; negative, infinite and not-a-number values say nothing."""
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number * unit if math.isfinite(number) and number >= 0 else None


def _seconds_or_date(value: str | None, now: datetime) -> float | None:
    seconds = _seconds(value)
    if seconds is not None or not value:
        return seconds
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())


def _reset(value: str | None, now: datetime) -> float | None:
    """A Go duration ("6m0s"), seconds, or the moment itself in seconds or milliseconds since 1970. 0 and -1, which
    Azure sends, mean nothing."""
    number = _seconds(value)
    if number is None:
        number = _go_duration(value or "")
    elif number > 1e11:
        number = number / 1000 - now.timestamp()
    elif number > 1e9:
        number -= now.timestamp()
    return number if number is not None and number > 0 else None


def _go_duration(value: str) -> float | None:
    match = _GO_DURATION.fullmatch(value.strip())
    if match is None or not match.group():
        return None
    hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


# --- what a provider answered instead of a completion ---


@dataclass(frozen=True, slots=True)
class Origin:
    """What was tried and with which key, for the message; the key is only used to remove it from the text."""

    url: str = ""
    model: str = ""
    api_key: str = field(default="", repr=False)


def classify(
    status: int, headers: Mapping[str, str], body: bytes, *, now: datetime, origin: Origin | None = None
) -> GatewayError:
    """The error for an HTTP answer that is no success. Header names in lower case; `now` for HTTP dates, aware."""
    text = body.decode("utf-8", "replace")
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        payload = None
    error = read_error(payload, whole=True) or ErrorBody(readable(text))
    wait = retry_after({**error.headers, **headers}, now)
    if 300 <= status < 400:
        error = ErrorBody(f"{error.message} (redirect to {headers.get('location', 'nowhere')})")
    return _build(status, f"HTTP {status}", error, wait, origin or Origin())


def classify_event(error: ErrorBody, *, origin: Origin | None = None) -> GatewayError:
    """The error for an error object inside a 200: its code may be a status, as number or text, or a word."""
    status = _status_of(error)
    origin = origin or Origin()
    code = excerpt(error.code, origin.api_key)
    said = f"an error in its answer (code {code})" if code else "an error in its answer"
    return _build(status, said, error, retry_after(error.headers, datetime.now(UTC)), origin)


def excerpt(text: str, api_key: str = "") -> str:
    """The first 300 characters without control characters and keys, on one line."""
    # Cut generously first so that a page of megabytes costs nothing, and finally after redacting. What the first cut
    # may have torn is left out: half of a key is no longer recognised, and white space does not keep it from view.
    is_cut, text = len(text) > EXCERPT_READ, redact(without_torn_end(text[:EXCERPT_READ], api_key), api_key)
    if is_cut:
        text = text[: max(0, len(text) - TORN * len(api_key))]
    if 4 <= len(api_key) < LEAST:
        text = text.replace(api_key, "[key]")
    text = " ".join(_CONTROL.sub(" ", _KEY.sub("[key]", text)).split())
    return text if len(text) <= EXCERPT_CHARACTERS else text[:EXCERPT_CHARACTERS] + "…"


def tried(origin: Origin) -> str:
    """What was tried, as the beginning of a message."""
    url = _USER_INFO.sub("//", origin.url) or "the provider"
    return f"Asking {origin.model} at {url}" if origin.model else f"Asking {url}"


def _build(status: int, said: str, error: ErrorBody, wait: float | None, origin: Origin) -> GatewayError:
    kind, advice = _kind(status, error)
    words = excerpt(error.message, origin.api_key)
    message = f"{tried(origin)} gave {said}" + (f": “{words}”. " if words else ", without a word of explanation. ")
    quota = kind is OutOfCredit and status != 402
    return kind(message + advice, status=status, retry_after=None if quota else wait)


def _kind(status: int, error: ErrorBody) -> tuple[type[GatewayError], str]:
    words = f"{error.code} {error.message[:2000]}"
    if 300 <= status < 400:
        return Refused, "Redirects are not followed: put the final address into the provider's base URL."
    if status not in (401, 402, 403, 429) and _CONTEXT.search(words):
        return ContextExceeded, "The prompt is longer than the model takes: shorten it or choose another model."
    if status == 402 or _QUOTA.search(words):
        return OutOfCredit, "Top up the account or raise the key's limit at the provider."
    if status == 401 or (status in (400, 403) and _WRONG_KEY.search(words)):
        return BadKey, "Check the provider key."
    if status == 404 or (status in (400, 403, 422) and _NO_MODEL.search(words)):
        return UnknownModel, "Check the model's name and the base URL."
    if status == 429:
        return RateLimited, "Asked again later; lower the number of parallel calls if this stays."
    if status in (408, 409, 425) or status >= 500:
        return Overloaded, "The provider failed on its side; asked again later."
    if status == 413:
        return Refused, "The request is too large: use less text or smaller images."
    return Refused, "The request has to change: look at the parameters and the prompt."


def _status_of(error: ErrorBody) -> int:
    for word in error.code.split():
        if len(word) == 3 and word.isdecimal() and 400 <= int(word) <= 599:
            return int(word)
    words = f"{error.code} {error.message[:2000]}"
    named = ((_QUOTA, 429), (_WRONG_KEY, 401), (_NO_MODEL, 404), (_CONTEXT, 400), *_WORD_STATUS)
    return next((status for pattern, status in named if pattern.search(words)), 500)


def readable(text: str) -> str:
    """A web page's title instead of its markup; any other text as it is."""
    found = _TITLE.search(text[:4000])
    return f"a web page titled {found.group(1).strip()!r}" if found else text
