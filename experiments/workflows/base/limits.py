"""Hard limits of a run, whatever its workflow."""

from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field


class Limits(BaseModel):
    """Tokens in all, seconds of play (waiting for people is not counted), US dollars. None sets no limit."""

    model_config = ConfigDict(extra="forbid")

    tokens: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    seconds: Annotated[float, Field(gt=0, le=31_536_000)] | None = None
    cost: Annotated[float, Field(gt=0, le=1_000_000)] | None = None


class Words(NamedTuple):
    """label: of the field where a limit is set. shown: where it is told, with %(n)s or, in US dollars, %(money)s.
    reached: why a run ended.
    """

    label: str
    shown: str
    reached: str


def gettext_noop(words: str) -> str:
    """Marks words that are translated where they are shown."""
    return words


_ = gettext_noop
WORDS = {
    "tokens": Words(_("Max tokens"), _("%(n)s tokens"), _("token limit reached")),
    "seconds": Words(_("Max seconds"), _("%(n)s seconds"), _("time limit reached")),
    "cost": Words(_("Budget, US dollars"), "%(money)s", _("cost limit reached")),
}
