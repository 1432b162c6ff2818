"""Messages as entries of a report's log: what was said, thought, filtered, changed, and how sure the model was.

Below: what was read out of the structured answers of a debate, and the ballots that were read from reviews.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from experiments.models import Ballot, Call, Message
from experiments.models.seats import SEATED
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Entry, Fact, Facts, Fold, Mark, Part, Text, Token, Tokens
from experiments.runs.reports.setup import Rows
from experiments.runs.tokens import Band, token_view
from experiments.templatetags.arena import MISSING, beside, exact_money, figure, grouped
from experiments.workflows.council.reviews import words as words_of

MOST_TOKENS = 300  # of one message are drawn; the average is that of all
PERSONS_WORDS = {
    "question": gettext_lazy("The question"),
    "request": gettext_lazy("The request"),
    "final_prompt": gettext_lazy("The final prompt"),
    "addendum": gettext_lazy("The addendum"),
}
ROWS_AT_ONCE = 20  # token probabilities are large: they are read a few messages at a time
CODE = re.compile(r"(```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`)", re.DOTALL)


def message_entries(rows: Rows) -> dict[int, Entry]:
    """Each message's entry, by the step that left it."""
    messages = rows.run.messages.select_related("call", "step").defer("call__request", "call__text", "call__reasoning")
    persona = str(rows.config.get("persona") or _("You"))
    read = {ballot.step.key.removesuffix("/ballot"): ballot for ballot in rows.ballots}
    return {
        message.step_id: Entry(
            anchor=f"message-{message.pk}",
            seat=message.seat,
            badge=words.badge(message.seat),
            title=_title(message),
            by=persona if message.seat == "researcher" else message.model,
            when=words.moment(message.created),
            marks=tuple(_marks(message)),
            blocks=tuple(_blocks(message, read.get(message.step.key))),
        )
        for message in messages.iterator(chunk_size=ROWS_AT_ONCE)
    }


def _kind(message: Message) -> str:
    """Of what was read out of it, empty for none."""
    return str((message.parsed or {}).get("kind", ""))


def _title(message: Message) -> str:
    if name := PERSONS_WORDS.get(_kind(message)):
        return str(name)
    seat, purpose = words.seat_name(message.seat), message.step.purpose
    return f"{seat} · {words.purpose_name(purpose)}" if purpose in ("review", "conclusion") else seat


def _marks(message: Message) -> Iterator[Mark]:
    finishes = {
        "length": Mark(_("cut off at the token limit"), "warning"),
        "stopped": Mark(_("stopped here"), "warning"),
        "content_filter": Mark(_("refused"), "danger"),
    }
    if message.finish_reason in finishes:
        yield finishes[message.finish_reason]
    if message.superseded:
        yield Mark(_("superseded: another answer was asked for"), "warning")
    if message.operator:
        person = message.operator.get("by") or _("somebody")
        kinds = {"altered": _("altered by %(person)s"), SEATED: _("a person: %(person)s")}
        changed = kinds.get(message.operator.get("kind", ""), _("edited by %(person)s"))
        is_unnamed = message.operator == {"kind": SEATED, "by": ""}
        yield Mark(_("a person") if is_unnamed else changed % {"person": person}, "operator")
    flags = {"speaks_for_other": _("speaks for the other side")}
    yield from (
        Mark(flags.get(flag) or words.flag_name(flag), "warning")
        for flag in beside(message.flags, message.finish_reason)
    )


def _blocks(message: Message, ballot: Ballot | None) -> Iterator[Block]:
    if message.reasoning:
        yield Fold(_("Reasoning"), words.characters(message.reasoning), (Text(message.reasoning, "plain", "muted"),))
    yield from _words(message, ballot)
    if message.filter:
        yield _filter(message, message.filter)
    if message.operator and message.operator.get("kind") != SEATED:
        yield _changed(message, message.operator)
    elif not message.filter and message.parsed is None and message.text != message.raw_text:
        yield Fold(_("What the other side sees"), words.characters(message.text), (Text(message.text, "prose"),))
    if message.call:
        yield from _tokens(message.call.logprobs)
        yield Text(_usage(message.call), tone="muted")


def _words(message: Message, ballot: Ballot | None) -> Iterator[Block]:
    """What was said: as it stands, with the answers' names put in, or in the parts that were read out of it."""
    kind = _kind(message)
    if not message.raw_text.strip():
        yield Text(_("No text came back."), tone="muted")
    elif kind in READ:
        yield from READ[kind](message, message.parsed or {})
        yield Fold(_("As produced"), words.characters(message.raw_text), (Text(message.raw_text, "plain", "muted"),))
    elif kind == "unread":
        yield Text(_("It could not be read and is shown as received: %(reason)s") % message.parsed, tone="warning")
        yield Text(message.raw_text, "prose")
    elif ballot is not None:
        yield from _review(message.raw_text, ballot)
    else:
        yield Text(message.raw_text, "prose")
    if ballot is not None:
        yield _ballot(ballot)


def _filter(message: Message, found: Mapping[str, Any]) -> Fold:
    said = {
        "kept": _("all of it"),
        "filtered": _("parts were left out"),
        "emptied": _("nothing: there were no words for it"),
        "failed": _("all of it: the filter failed"),
        "refused": _("all of it: the filter's answer was refused"),
    }
    status = found.get("status", "")
    confidence = found.get("confidence")
    facts = [
        Fact(_("Removed"), ", ".join(str(label) for label in found.get("removed") or []) or _("nothing")),
        Fact(_("Confidence"), MISSING if confidence is None else figure(confidence)),
        *([Fact(_("Reason"), str(found["reasoning"]))] if found.get("reasoning") else []),
    ]
    change = message.operator or {}  # an operator may have altered afterwards what the filter let through
    passed_on = str(change.get("original", "")) if change.get("kind") == "altered" else message.text
    same = Text(_("The same words as above."), tone="muted")
    seen = same if passed_on == message.raw_text else Text(passed_on, "prose")
    tone: Any = "danger" if status in {"failed", "refused"} else "plain"
    return Fold(_("What the other model sees"), said.get(status, str(status)), (Facts(tuple(facts)), seen), tone)


def _changed(message: Message, change: Mapping[str, Any]) -> Fold:
    if change.get("kind") == "altered":
        now = (Text(message.text, "prose"),)
        return Fold(_("What the other side reads instead"), words.characters(message.text), now, "operator")
    original = str(change.get("original") or "")
    before = (Text(original or _("(empty)"), "prose" if original else "note"),)
    return Fold(_("Before it was edited"), words.characters(original), before, "operator")


def _usage(call: Call) -> str:
    read, written = (MISSING if n is None else grouped(n) for n in (call.input_tokens, call.output_tokens))
    parts = [_("%(read)s input tokens, %(written)s output tokens") % {"read": read, "written": written}]
    if call.reasoning_tokens:
        parts.append(_("%(n)s of them reasoning") % {"n": grouped(call.reasoning_tokens)})
    parts.append(_("cost unknown") if call.cost is None else exact_money(call.cost))
    if call.finish_reason:
        parts.append(_("finish reason: %(reason)s") % {"reason": call.finish_reason})
    return " · ".join(parts)


def _tokens(logprobs: Sequence[Mapping[str, Any]] | None) -> Iterator[Fold]:
    """Nothing where the provider gave no probabilities."""
    view = token_view(logprobs or (), "")
    known, sure = [one for one in view.tokens if one.probability is not None], view.confidence
    if sure.average is None:
        return
    summary = _("average confidence %(average)s, %(low)s of %(all)s tokens below 50 %%") % {
        "average": percent(sure.average),
        "low": grouped(sure.low),
        "all": grouped(sure.known),
    }
    legend: tuple[tuple[Band, str], ...] = (
        ("high", _("more than 80 %")),
        ("middle", _("50 to 80 %, dotted line")),
        ("low", _("less than 50 %, solid line")),
    )
    left = sure.known - MOST_TOKENS
    more = ngettext("… and %(n)s token more", "… and %(n)s tokens more", left) % {"n": grouped(left)}
    tokens = tuple(Token(one.token, one.probability or 0.0, one.band) for one in known[:MOST_TOKENS])
    drawn = Tokens(tokens, legend, more if left > 0 else "")
    yield Fold(_("Token confidence"), summary, (drawn,))


def percent(share: float) -> str:
    return f"{figure(100 * share, 1)} %"


# --- structured answers of a debate ---


def _brief(message: Message, parsed: Mapping[str, Any]) -> Iterator[Block]:
    listed = {
        "preferences": _("Preference"),
        "missing": _("Missing"),
        "clarifying_questions": _("To be clarified"),
    }
    facts = [
        Fact(_("Objective"), str(parsed.get("objective") or _("none"))),
        Fact(_("Context"), str(parsed.get("context") or _("none"))),
        *(Fact(name, str(text)) for field, name in listed.items() for text in parsed.get(field) or []),
    ]
    yield Facts(tuple(facts))


def _points(message: Message, parsed: Mapping[str, Any]) -> Iterator[Block]:
    """Each with the reference under which others speak of it: A1.p2."""
    for field, title in (("new_perspectives", _("New perspectives")), ("counterpoints", _("Counterpoints"))):
        facts = [
            Fact(f"{message.seat}{message.turn}.{point['id']}", str(point["contents"]))
            for point in parsed.get(field) or []
        ]
        yield _part(f"message-{message.pk}-{field}", title, facts)


def _actions(message: Message, parsed: Mapping[str, Any]) -> Iterator[Block]:
    return actions(f"message-{message.pk}", parsed)


def actions(anchor: str, parsed: Mapping[str, Any]) -> Iterator[Block]:
    """What a summary recommends and discourages, each with its sources."""
    for field, title in (("recommended", _("Recommended")), ("discouraged", _("Discouraged"))):
        facts = []
        for one in parsed.get(field) or []:
            sources = ", ".join(map(str, one.get("sources") or []))
            origin = _("from %(sources)s") % {"sources": sources} if sources else _("no source named")
            facts.append(Fact(str(one["id"]), str(one["contents"]), origin))
        yield _part(f"{anchor}-{field}", title, facts)


def _part(anchor: str, title: str, facts: Sequence[Fact]) -> Part:
    shown: Block = Facts(tuple(facts)) if facts else Text(_("None."), tone="muted")
    return Part(anchor, "", "", title, (shown,))


READ = {"brief": _brief, "points": _points, "actions": _actions}  # by the kind of what was read


# --- reviews and their ballots ---


def _review(text: str, ballot: Ballot) -> Iterator[Block]:
    """The review with names in the place of labels, and as it was written."""
    written = words_of(text)
    named = with_names(written, ballot.labels)
    yield Text(named, "prose")
    if named != written:
        yield Text(_("Names in bold were inserted for reading. The reviewer saw labels only."), tone="muted")
    if named != text:
        raw = Text(text, "prose" if written == text else "plain")
        yield Fold(_("As written by the reviewer"), _("with its labels"), (raw,))


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


def _ballot(ballot: Ballot) -> Facts:
    """The label map, and the order that was read, or why none was."""
    labels = ", ".join(f"{label} = {words.seat_name(seat)}" for label, seat in ballot.labels.items())
    readings = {
        "json": _("from structured output"),
        "text": _("from the text"),
        "repaired": _("from a second call that put the ranking into its form"),
    }
    order = _("no vote") if ballot.order is None else words.order(ballot.order)
    facts = [
        Fact(_("Shown, in this order"), labels or _("nothing")),
        Fact(_("Extracted ranking"), order, readings.get(ballot.reading, "")),
    ]
    if ballot.order is None:
        facts.append(Fact(_("Why it abstained"), words.abstention(ballot.abstained_reason)))
    if ballot.flags:
        facts.append(Fact(_("When it was read"), "; ".join(map(words.flag_name, ballot.flags))))
    if ballot.superseded:
        facts.append(Fact(_("Counts"), _("no: replaced by a later ballot of this reviewer")))
    return Facts(tuple(facts))


def without_review(ballot: Ballot) -> Entry:
    """The entry of a ballot that no review was written for: its reviewer could not be asked."""
    return Entry(
        anchor=f"ballot-{ballot.pk}",
        seat=ballot.reviewer,
        badge=words.badge(ballot.reviewer),
        title=_("%(seat)s did not rank") % {"seat": words.seat_name(ballot.reviewer)},
        by=ballot.model,
        when=words.moment(ballot.created),
        marks=(Mark(_("abstained"), "warning"),) if ballot.order is None else (),
        blocks=(_ballot(ballot),),
    )
