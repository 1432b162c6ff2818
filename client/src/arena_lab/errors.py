"""What can go wrong, by what the caller can do about it."""

from collections.abc import Mapping
from typing import Any


class ArenaError(Exception):
    """Anything that the client raises."""


class NotSetUp(ArenaError):
    """No address, no token, or a library that is not installed: the message says what to do."""


class Unreachable(ArenaError):
    """No answer came. Whether the request arrived is not known, unless the message says that it did not."""


class BadAnswer(ArenaError):
    """The answer is not what the API gives: the address is another program's, or the versions do not fit."""


class NothingOpen(ArenaError):
    """Something was to be said to a run that waits for nothing."""


class Problem(ArenaError):
    """The platform refused, in a problem document (RFC 9457). errors: what is wrong, by field.

    retry_after: seconds after which the platform wants to be asked again, where it said so.
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        *,
        errors: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{status} {title}: {detail}" if detail else f"{status} {title}")
        self.status, self.title, self.detail = status, title, detail
        self.errors = dict(errors or {})
        self.retry_after = retry_after


class Invalid(Problem):
    """400, 413 or 422: something in the request is to be corrected."""


class SignInNeeded(Problem):
    """401: the token is missing, has expired or was revoked."""


class Forbidden(Problem):
    """403: one may see it, but not do this."""


class NotFound(Problem):
    """404: it is not there, or not for you to see."""


class Conflict(Problem):
    """409: something else has happened first."""


class TooMany(Problem):
    """429: too much was asked for at once."""


class ServerFailed(Problem):
    """500 and above."""


_BY_STATUS: dict[int, type[Problem]] = {
    400: Invalid,
    401: SignInNeeded,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: Invalid,
    422: Invalid,
    429: TooMany,
}


def problem_class(status: int) -> type[Problem]:
    return _BY_STATUS.get(status, ServerFailed if status >= 500 else Problem)
