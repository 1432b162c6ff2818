"""What can go wrong with a call, as a tree by what the caller can do about it."""

from experiments.gateway.types import Completion


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


class NeedsPerson(GatewayError):
    """Repeating the request cannot help until somebody changes something."""

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
