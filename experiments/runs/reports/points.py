"""What was read out of a structured answer of a debate: the brief, points with their references, actions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from experiments.models import Message
from experiments.runs.reports.report import Block, Fact, Facts, Part, Text

READ = ("brief", "points", "actions")


def blocks(message: Message) -> Iterator[Block]:
    """Of a message whose `parsed` is of a kind of READ."""
    parsed = message.parsed or {}
    of_kind = {"brief": _brief, "points": _points, "actions": _actions}
    yield from of_kind[parsed["kind"]](message, parsed)


def reference(message: Message, point: Mapping[str, Any]) -> str:
    """Under which name others speak of the point: A1.p2."""
    return f"{message.seat}{message.turn}.{point['id']}"


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
    for field, title in (("new_perspectives", _("New perspectives")), ("counterpoints", _("Counterpoints"))):
        said = parsed.get(field) or []
        facts = [Fact(reference(message, point), str(point["contents"])) for point in said]
        yield from _part(message, field, title, facts)


def _actions(message: Message, parsed: Mapping[str, Any]) -> Iterator[Block]:
    for field, title in (("recommended", _("Recommended")), ("discouraged", _("Discouraged"))):
        facts = [
            Fact(str(one["id"]), str(one["contents"]), _sources(one.get("sources") or []))
            for one in parsed.get(field) or []
        ]
        yield from _part(message, field, title, facts)


def _sources(references: Sequence[Any]) -> str:
    if not references:
        return _("no source named")
    return _("from %(sources)s") % {"sources": ", ".join(map(str, references))}


def _part(message: Message, field: str, title: str, facts: Sequence[Fact]) -> Iterator[Block]:
    shown: Block = Facts(tuple(facts)) if facts else Text(_("None."), tone="muted")
    yield Part(f"message-{message.pk}-{field}", "", "", title, (shown,))
