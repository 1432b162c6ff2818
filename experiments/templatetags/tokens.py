"""Words of the tokens of an answer."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.runs.tokens import LEAST, Token
from experiments.templatetags.arena import MISSING

register = template.Library()

VISIBLE = {"\n": "↵\n", "\t": "⇥\t"}
MOST_LISTED = 100


@register.filter
def share(value: float | None, digits: int = 1) -> str:
    """A probability in per cent: 87.4 %."""
    return MISSING if value is None else f"{100 * value:.{digits}f} %"


@register.filter
def logarithm(value: float | None) -> str:
    """A natural logarithm; what stands for minus infinity is written so."""
    if value is None:
        return MISSING
    return "−∞" if value <= LEAST else f"{value:.3f}".replace("-", "−")


@register.filter
def visible(token: str) -> str:
    """A token as it is seen: ends of lines and tabs have a sign, too."""
    return "".join(VISIBLE.get(character, character) for character in token.replace("\r\n", "\n")) or "∅"


@register.filter
def spoken(token: str) -> str:
    """A token as it is called: white space by name, for those who do not see it."""
    if token.strip():
        return token.strip()
    return str(WHITE.get(token) or _("white space")) if token else _("an empty token")


@register.simple_tag
def token_spans(tokens: Iterable[Token], name: str) -> SafeString:
    """Every token as an option of a list. Written here, not in a template: an answer may have thousands of them."""
    labels = {band: str(label) for band, label in BANDS.items()}
    words = _("%(token)s: %(share)s, %(band)s")
    spans = (_span(token, name, words, labels[token.band]) for token in tokens)
    return mark_safe("".join(spans))  # noqa: S308 - each part is escaped


def _span(token: Token, name: str, words: str, band: str) -> str:
    label = words % {"token": spoken(token.token), "share": share(token.probability), "band": band}
    value = "" if token.probability is None else f' data-p="{token.probability:.6g}"'
    return (
        f'<span role="option" class="tok {token.band}" id="{name}-{token.place}"'
        f' tabindex="{0 if token.place == 0 else -1}"{value} aria-label="{escape(label)}">'
        f"{escape(visible(token.token))}</span>"
    )


@register.filter
def first_low(tokens: Iterable[Token]) -> list[Token]:
    return [token for token in tokens if token.band == "low"][:MOST_LISTED]


@register.filter
def token_data(tokens: Iterable[Token]) -> list[list[Any]]:
    """What the script needs beside the text: logprob, and the alternatives with theirs, in the order of the tokens."""
    return [[one.logprob, [[other.token, other.logprob] for other in one.alternatives]] for one in tokens]


WHITE = {
    " ": gettext_lazy("a space"),
    "\n": gettext_lazy("end of line"),
    "\n\n": gettext_lazy("two ends of lines"),
    "\t": gettext_lazy("a tab"),
}
BANDS = {
    "high": gettext_lazy("high"),
    "middle": gettext_lazy("middle"),
    "low": gettext_lazy("low"),
    "unknown": gettext_lazy("unknown"),
}
