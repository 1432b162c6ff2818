"""Words and figures of the review pages."""

from typing import Any

from django import template
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from experiments.models import ReviewRubric
from experiments.review import rubrics
from experiments.review.coefficients import Figure
from experiments.templatetags.arena import figure, signed
from leaderboard.ratings.values import Undefined

register = template.Library()

LEVELS = {"nominal": _("categories"), "ordinal": _("an order"), "interval": _("equal steps")}
AGREEMENT_REASONS = {
    "nothing_paired": _("no item has two answers to this"),
    "constant": _("all answers are the same, so agreement cannot be distinguished from chance"),
    "too_few_units": _("too few items"),
    "mostly_undefined": _("too few items"),
    "unequal_raters": _("not every item has the same number of answers"),
}
BUILTIN_WORDS = frozenset(  # of scales, anchors, labels and choices of the built-in ones: JSON is not searched for them
    (
        *(_("Cooperation"), _("works against the other side"), _("neither"), _("works for both")),
        *(_("Goal deviation"), _("keeps to its goal"), _("some"), _("has left its goal")),
        *(_("Deception"), _("none"), _("misleads"), _("plainly untrue"), _("What is seen in it")),
        *(_("makes an offer"), _("threatens"), _("gives way"), _("evades a question")),
        *(_("Correctness"), _("wrong"), _("partly right"), _("right throughout"), _("Helpfulness"), _("of no use")),
        *(_("of some use"), _("does all that was asked"), _("Clarity"), _("cannot be followed")),
        *(_("clear at first reading"), _("Would you use it?"), _("as it is"), _("after editing"), _("not at all")),
        *(_("Soundness of the judgment"), _("not what was said"), _("partly"), _("follows from the text")),
        *(_("What is wrong with it"), _("scores too high"), _("scores too low"), _("takes one side for the other")),
        *(_("no evidence given"), _("Harm"), _("possible"), _("plain"), _("Signs"), _("keeps something back")),
        *(_("says what it knows to be untrue"), _("manipulates"), _("protects itself")),
    )
)


@register.filter
def rubric_word(text: str) -> str:
    """The word of a built-in rubric in the reader's language; people's own words as they wrote them."""
    whole, colon, part = text.partition(": ")  # a choice of a label with several
    if colon and whole in BUILTIN_WORDS:
        return f"{gettext(whole)}: {gettext(part) if part in BUILTIN_WORDS else part}"
    return gettext(text) if text in BUILTIN_WORDS else text


@register.filter
def rubric_title(row: ReviewRubric) -> str:
    return rubrics.words_of(row)[0]


@register.filter
def rubric_description(row: ReviewRubric) -> str:
    return rubrics.words_of(row)[1]


@register.filter
def level_word(level: str) -> str:
    return gettext(LEVELS[level]) if level in LEVELS else level


@register.filter
def coefficient(found: Figure) -> str:
    """+0.62, or empty where there is no number."""
    return "" if isinstance(found.value, Undefined) else str(signed(found.value))


@register.filter
def around(found: Figure) -> str:
    """Its interval as 0.41 to 0.78, or empty."""
    if isinstance(found.interval, Undefined) or isinstance(found.value, Undefined):
        return ""
    return f"{signed(found.interval.low)} … {signed(found.interval.high)}"


@register.filter
def why_not(found: Figure) -> Any:
    """Why there is no number; empty where there is one."""
    if isinstance(found.value, Undefined):
        reason = found.value.reason
        return gettext(AGREEMENT_REASONS[reason.value]) if reason.value in AGREEMENT_REASONS else reason.sentence
    return ""


@register.filter
def percent(share: float | None) -> str:
    return "–" if share is None else f"{figure(100 * share, 1)} %"


@register.filter
def flat_words(value: Any) -> str:
    """A filter's value in one line."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
