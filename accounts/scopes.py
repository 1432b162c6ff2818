"""What a token may be used for. Whoever signs in with a browser may do whatever the person may; a token only what its
scopes name, and never more than its person."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy


class Scope(models.TextChoices):
    READ = "read", gettext_lazy("read everything you can see")
    WRITE = "write", gettext_lazy("free changes: set up, share, stop, save, upload")
    SPEND = "spend", gettext_lazy("use models: start, answer, resume, branch, judge again")
    REVIEW = "review", gettext_lazy("review, flag, curate and vote")
    ADMIN = "admin", gettext_lazy("manage tokens, keys, webhooks, budgets, projects and people")


Handler = TypeVar("Handler", bound=Callable[..., Any])

ALL = tuple(Scope.values)


def all_scopes() -> list[str]:
    """Those of a token that nobody has limited."""
    return list(ALL)


def checked(names: Iterable[str]) -> list[str]:
    """The scopes in their order, each once. Raises ValueError that says which there are."""
    wanted = set(names)
    if not wanted or (wanted - set(ALL)):
        raise ValueError(_("A token needs at least one of these scopes: %(all)s.") % {"all": ", ".join(ALL)})
    return [scope for scope in ALL if scope in wanted]


def needs(scope: Scope) -> Callable[[Handler], Handler]:
    """Which scope a handler of the API needs, where it is another one than its view's."""

    def marked(handler: Handler) -> Handler:
        handler.scope = scope  # type: ignore[attr-defined]  # a mark on a function, read where it is called
        return handler

    return marked
