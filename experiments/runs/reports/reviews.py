"""Reviews and the ballots that were read from them: which label was whose answer, and the order."""

import re
from collections.abc import Iterator, Mapping, Sequence

from django.utils.translation import gettext as _

from experiments.models import Ballot
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Entry, Fact, Facts, Fold, Mark, Text
from experiments.workflows.council.reviews import words as words_of

CODE = re.compile(r"(```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`)", re.DOTALL)


def said(text: str, ballot: Ballot) -> Iterator[Block]:
    """The review with names in the place of labels, and as it was written."""
    written = words_of(text)
    named = with_names(written, ballot.labels)
    yield Text(named, "prose")
    if named != written:
        yield Text(_("Names in bold were put in for reading: the reviewer saw labels alone."), tone="muted")
    if named != text:
        raw = Text(text, "prose" if written == text else "plain")
        yield Fold(_("As the reviewer wrote it"), _("with its labels"), (raw,))


def with_names(text: str, labels: Mapping[str, str]) -> str:
    """Each label as the bold name of the seat whose answer it was. Code, and words that only begin like a label, stay.

    labels: what the reviewer was shown to seats.
    """
    if not labels:
        return text
    names = {label: f"**{words.seat_name(seat)}**" for label, seat in labels.items()}
    longest_first = sorted(names, key=len, reverse=True)
    label = re.compile(rf"(?:\*\*)?(?<!\w)({'|'.join(map(re.escape, longest_first))})(?:\*\*)?(?![\w'’])")
    parts = CODE.split(text)
    parts[::2] = [label.sub(lambda found: names[found[1]], part) for part in parts[::2]]
    return "".join(parts)


def blocks(ballot: Ballot) -> Iterator[Block]:
    """The label map, and the order that was read, or why none was."""
    map_ = ", ".join(f"{label} = {words.seat_name(seat)}" for label, seat in ballot.labels.items())
    readings = {
        "json": _("from structured output"),
        "text": _("from the text"),
        "repaired": _("from a second call that put the ranking into its form"),
    }
    read = order_in_words(ballot.order) if ballot.order is not None else _("no vote")
    facts = [
        Fact(_("Shown, in this order"), map_ or _("nothing")),
        Fact(_("Extracted ranking"), read, readings.get(ballot.reading, "")),
        *([Fact(_("Why it abstained"), abstention(ballot.abstained_reason))] if ballot.order is None else []),
        *([Fact(_("When it was read"), "; ".join(map(words.flag_name, ballot.flags)))] if ballot.flags else []),
        *([Fact(_("Counts"), _("no: a later ballot of this reviewer took its place"))] if ballot.superseded else []),
    ]
    yield Facts(tuple(facts))


def abstention(reason: str) -> str:
    """In the reader's language where we know the sentence: workflows speak English."""
    return _(reason) if reason else ""


def order_in_words(order: Sequence[Sequence[str]]) -> str:
    """Member 2 > Member 1 = Member 3: best first, equals together."""
    return " > ".join(" = ".join(words.seat_name(seat) for seat in group) for group in order)


def without_review(ballot: Ballot) -> Entry:
    """The entry of a ballot that no review was written for: its reviewer could not be asked."""
    return Entry(
        anchor=f"ballot-{ballot.pk}",
        seat=ballot.reviewer,
        badge=words.badge(ballot.reviewer),
        title=_("%(seat)s did not rank") % {"seat": words.seat_name(ballot.reviewer)},
        by=ballot.model,
        when=words.moment(ballot.created),
        tone="plain",
        marks=(Mark(_("abstained"), "warning"),) if ballot.order is None else (),
        blocks=tuple(blocks(ballot)),
    )
