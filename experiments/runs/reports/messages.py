"""Messages as entries of a report's log: what was said, thought, filtered, changed, and how sure the model was."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from experiments.models import Ballot, Call, Message
from experiments.runs.reports import points, reviews, words
from experiments.runs.reports.report import Band, Block, Entry, Fact, Facts, Fold, Mark, Text, Token, Tokens
from experiments.runs.reports.rows import Rows
from experiments.templatetags.arena import MISSING, beside, exact_money, figure, grouped

MOST_TOKENS = 300  # of one message are drawn; the average is that of all
HIGH, LOW = 0.8, 0.5
PERSONS_WORDS = {
    "question": gettext_lazy("The question"),
    "request": gettext_lazy("The request"),
    "final_prompt": gettext_lazy("The final prompt"),
    "addendum": gettext_lazy("The addendum"),
}
ROWS_AT_ONCE = 20  # token probabilities are large: they are read a few messages at a time


def said(rows: Rows) -> dict[int, Entry]:
    """Each message's entry, by the step that left it."""
    messages = rows.run.messages.select_related("call", "step").defer("call__request", "call__text", "call__reasoning")
    persona = str(rows.config.get("persona") or _("You"))
    read = {ballot.step.key.removesuffix("/ballot"): ballot for ballot in rows.ballots}
    return {
        message.step_id: _entry(message, persona, read.get(message.step.key))
        for message in messages.iterator(chunk_size=ROWS_AT_ONCE)
    }


def _entry(message: Message, persona: str, ballot: Ballot | None) -> Entry:
    return Entry(
        anchor=f"message-{message.pk}",
        seat=message.seat,
        badge=words.badge(message.seat),
        title=_title(message),
        by=persona if message.seat == "researcher" else message.model,
        when=words.moment(message.created),
        tone="plain",
        marks=tuple(_marks(message)),
        blocks=tuple(_blocks(message, ballot)),
    )


def _title(message: Message) -> str:
    name = PERSONS_WORDS.get((message.parsed or {}).get("kind", ""))
    if name is not None:
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
        changed = _("altered by %(person)s") if message.operator.get("kind") == "altered" else _("edited by %(person)s")
        yield Mark(changed % {"person": person}, "operator")
    flags = {"speaks_for_other": _("speaks for the other side")}
    yield from (
        Mark(flags.get(flag) or words.flag_name(flag), "warning")
        for flag in beside(message.flags, message.finish_reason)
    )


def _blocks(message: Message, ballot: Ballot | None) -> Iterator[Block]:
    if message.reasoning:
        yield Fold(_("Reasoning"), _characters(message.reasoning), (Text(message.reasoning, "plain", "muted"),))
    yield from _words(message, ballot)
    if message.filter:
        yield _filter(message, message.filter)
    if message.operator:
        yield from _changed(message, message.operator)
    elif not message.filter and message.parsed is None and message.text != message.raw_text:
        yield Fold(_("What the other side sees"), _characters(message.text), (Text(message.text, "prose"),))
    if message.call:
        yield from _tokens(message.call.logprobs)
        yield Text(_usage(message.call), tone="muted")


def _words(message: Message, ballot: Ballot | None) -> Iterator[Block]:
    """What was said: as it stands, with the answers' names put in, or in the parts that were read out of it."""
    if not message.raw_text.strip():
        yield Text(_("No text came back."), tone="muted")
    elif (message.parsed or {}).get("kind") in points.READ:
        yield from points.blocks(message)
        yield Fold(_("As it was produced"), _characters(message.raw_text), (Text(message.raw_text, "plain", "muted"),))
    elif (message.parsed or {}).get("kind") == "unread":
        yield Text(_("It could not be read, and is shown as it came: %(reason)s") % message.parsed, tone="warning")
        yield Text(message.raw_text, "prose")
    elif ballot is not None:
        yield from reviews.said(message.raw_text, ballot)
    else:
        yield Text(message.raw_text, "prose")
    if ballot is not None:
        yield from reviews.blocks(ballot)


def _characters(text: str) -> str:
    return ngettext("%(n)s character", "%(n)s characters", len(text)) % {"n": grouped(len(text))}


def _filter(message: Message, found: Mapping[str, Any]) -> Fold:
    said = {
        "kept": _("all of it"),
        "filtered": _("parts were left out"),
        "emptied": _("nothing: no words were meant for it"),
        "failed": _("all of it: the filter failed"),
        "refused": _("all of it: the filter's answer was refused"),
    }
    status = said.get(found.get("status", ""), str(found.get("status")))
    confidence = found.get("confidence")
    facts = [
        Fact(_("Removed"), ", ".join(str(label) for label in found.get("removed") or []) or _("nothing")),
        Fact(_("Confidence"), MISSING if confidence is None else figure(confidence)),
        *([Fact(_("Reason"), str(found["reasoning"]))] if found.get("reasoning") else []),
    ]
    passed_on = _passed_on(message)
    seen = (
        Text(_("The same words as above."), tone="muted") if passed_on == message.raw_text else Text(passed_on, "prose")
    )
    tone: Any = "danger" if found.get("status") in {"failed", "refused"} else "plain"
    return Fold(_("What the other model sees"), status, (Facts(tuple(facts)), seen), tone)


def _passed_on(message: Message) -> str:
    """What the filter let through: an operator may have altered that afterwards."""
    altered = message.operator and message.operator.get("kind") == "altered"
    return str(message.operator.get("original", "")) if altered and message.operator else message.text


def _changed(message: Message, change: Mapping[str, Any]) -> Iterator[Fold]:
    original = str(change.get("original") or "")
    before = (Text(original or _("(empty)"), "prose" if original else "note"),)
    if change.get("kind") == "altered":
        yield Fold(_("What the other side reads instead"), _characters(message.text), (Text(message.text, "prose"),),
                   "operator")  # fmt: skip
    else:
        yield Fold(_("Before it was edited"), _characters(original), before, "operator")


def _usage(call: Call) -> str:
    read, written = (MISSING if n is None else grouped(n) for n in (call.input_tokens, call.output_tokens))
    parts = [_("%(read)s tokens in, %(written)s out") % {"read": read, "written": written}]
    if call.reasoning_tokens:
        parts.append(_("%(n)s of them reasoning") % {"n": grouped(call.reasoning_tokens)})
    parts.append(_("cost unknown") if call.cost is None else exact_money(call.cost))
    if call.finish_reason:
        parts.append(_("finish reason: %(reason)s") % {"reason": call.finish_reason})
    return " · ".join(parts)


def _tokens(logprobs: Sequence[Mapping[str, Any]] | None) -> Iterator[Fold]:
    """Nothing where the provider gave no probabilities."""
    tokens = [Token(str(one["token"]), p, _band(p)) for one in logprobs or [] if (p := _probability(one)) is not None]
    if not tokens:
        return
    average = sum(token.probability for token in tokens) / len(tokens)
    low = sum(token.band == "low" for token in tokens)
    summary = _("average confidence %(average)s, %(low)s of %(all)s tokens below 50 %%") % {
        "average": percent(average),
        "low": grouped(low),
        "all": grouped(len(tokens)),
    }
    left = len(tokens) - MOST_TOKENS
    rest = (
        ngettext("… and %(n)s token more", "… and %(n)s tokens more", left) % {"n": grouped(left)} if left > 0 else ""
    )
    yield Fold(_("Token confidence"), summary, (Tokens(tuple(tokens[:MOST_TOKENS]), legend(), rest),))


def legend() -> tuple[tuple[Band, str], ...]:
    return (
        ("high", _("more than 80 %")),
        ("middle", _("50 to 80 %, dotted line")),
        ("low", _("less than 50 %, solid line")),
    )


def percent(share: float) -> str:
    return f"{figure(100 * share, 1)} %"


def _probability(one: Mapping[str, Any]) -> float | None:
    value = one.get("logprob")
    return math.exp(min(0.0, float(value))) if isinstance(value, int | float) else None


def _band(probability: float) -> Band:
    return "high" if probability > HIGH else "low" if probability < LOW else "middle"
