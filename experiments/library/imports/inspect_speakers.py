"""Who says what in a sample of Inspect: one model, or its agents, roles, solvers or models, as its events tell."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from experiments.library.imports.values import line, mapping, mappings, text

MODEL, RESEARCHER, TOOL = "model", "researcher", "tool"
GRADING = ("scorer", "scorers")  # types of spans in which models grade, and do not speak
MOST_SPANS_DEEP = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A message as the log has it, and whose it is. model: as the log calls it, empty where only the whole sample says
    it. stop_reason: why an answer ended; empty where the log does not say it of this one.
    """

    message: Mapping[str, Any]
    seat: str = MODEL
    model: str = ""
    stop_reason: str = ""

    @property
    def role(self) -> str:
        return text(self.message.get("role"))

    @property
    def is_answer(self) -> bool:
        return self.role == "assistant"


@dataclass(frozen=True, slots=True)
class _Call:
    """A question to a model outside of scorers. agent, solver: names of the innermost spans; role: of the model."""

    event: Mapping[str, Any]
    answer: Mapping[str, Any]
    stop_reason: str
    model: str
    agent: str
    role: str
    solver: str


@dataclass(slots=True)
class Spoken:
    """lines: in the sequence in which they came up. notes: what the log does not tell."""

    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def speakers(self) -> list[str]:
        return list(dict.fromkeys(one.seat for one in self.lines if one.is_answer))


def spoken(sample: Mapping[str, Any]) -> Spoken:
    """sample: with its attachments in their places. Its messages as they are where one speaks alone; otherwise also
    what agents said that is in no message of the sample.
    """
    messages = mappings(sample.get("messages"))
    calls, failed = _calls(sample)
    names = _names(calls)
    if len(set(names)) < 2:
        choices = mappings(mapping(sample.get("output")).get("choices"))
        reason = text(choices[0].get("stop_reason")) if choices else ""
        last = len(messages) - 1
        return Spoken([Line(one, stop_reason=reason if at == last else "") for at, one in enumerate(messages)])
    found = Spoken()
    told: set[str] = set()
    pool = mappings(mapping(sample.get("events_data")).get("messages"))
    answers = {_key(call.answer): (name, call) for name, call in zip(names, calls, strict=True)}

    def tell(message: Mapping[str, Any]) -> None:
        if (key := _key(message)) in told:
            return
        told.update((key, text(message.get("id")) or key))  # a result of a tool comes again as a message of a user
        if key in answers:
            name, call = answers[key]
            found.lines.append(Line(call.answer, name, call.model, call.stop_reason))
        else:
            found.lines.append(Line(message))

    for call in calls:
        for message in _read(call.event, pool):
            tell(message)
        tell(call.answer)
    for message in messages:
        tell(message)
    for event in _events(sample.get("events")):
        if event.get("event") == "tool" and "result" in event:
            result = {"role": "tool", "content": event["result"], "tool_call_id": event.get("id")}
            tell({**result, "function": event.get("function"), "arguments": event.get("arguments")})
    found.notes = _notes(found, answers, failed)
    return found


def _notes(found: Spoken, answers: Mapping[str, Any], failed: int) -> list[str]:
    notes = [_("Speakers told from the log’s events: %(names)s.") % {"names": ", ".join(found.speakers)}]
    notes.append(_("The log does not say who wrote messages of the role “user”: they are shown as the researcher’s."))
    if any(one.is_answer and _key(one.message) not in answers for one in found.lines):
        notes.append(_("Answers that no event of the log made are shown as those of “model”."))
    if failed:
        notes.append(_("Calls of models without an answer were left out: %(n)s.") % {"n": failed})
    return notes


def _names(calls: list[_Call]) -> list[str]:
    """Whose each answer is: the agent's, the role's, or what tells the others apart, solvers before models."""
    others = [one for one in calls if not (one.agent or one.role)]
    has_solvers = len({one.solver for one in others}) > 1
    has_models = len({one.model for one in others}) > 1
    names = [
        one.agent or one.role or (has_solvers and one.solver) or (has_models and one.model.rpartition("/")[2]) or MODEL
        for one in calls
    ]
    taken: dict[str, str] = {}
    for name in dict.fromkeys(names):
        plain = re.sub(r"[^\w-]+", "-", name).strip("-")[:36] or MODEL
        plain = f"{plain}-agent" if plain in (RESEARCHER, TOOL) else plain
        number, free = 1, plain
        while free in taken.values():
            number += 1
            free = f"{plain}-{number}"
        taken[name] = free
    return [taken[name] for name in names]


def _calls(sample: Mapping[str, Any]) -> tuple[list[_Call], int]:
    """The calls of models that answered, and how many did not."""
    spans: dict[str, Mapping[str, Any]] = {}
    calls, failed = [], 0
    for event in _events(sample.get("events")):
        if event.get("event") == "span_begin":
            spans[text(event.get("id"))] = event
        if event.get("event") != "model":
            continue
        around = list(_around(text(event.get("span_id")), spans))
        if any(span.get("type") in GRADING for span in around):
            continue
        choices = mappings(mapping(event.get("output")).get("choices"))
        answer = mapping(choices[0].get("message")) if choices else {}
        if not answer or event.get("error"):
            failed += 1
            continue
        agent, solver = (
            next((line(span.get("name"), 60) for span in around if span.get("type") == kind), "")
            for kind in ("agent", "solver")
        )
        calls.append(
            _Call(
                event=event,
                answer={"role": "assistant", **answer},
                stop_reason=text(choices[0].get("stop_reason")),
                model=text(event.get("model")),
                agent=agent,
                role=line(event.get("role"), 60),
                solver=solver,
            )
        )
    return calls, failed


def _events(value: Any) -> Iterator[Mapping[str, Any]]:
    """Events in their sequence, those that older logs hold within others after them."""
    for event in mappings(value):
        yield event
        yield from _events(event.get("events"))


def _around(span: str, spans: Mapping[str, Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The spans around an event, the innermost first."""
    for _level in range(MOST_SPANS_DEEP):
        found = spans.get(span)
        if found is None:
            return
        yield found
        span = text(found.get("parent_id"))


def _read(event: Mapping[str, Any], pool: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """What the model was sent: the messages of the event, or those that it names by their places in the log's pool."""
    yield from mappings(event.get("input"))
    refs = event.get("input_refs")
    for ref in refs if isinstance(refs, list) else ():
        match ref:
            case [int(first), int(end)] if 0 <= first <= end:
                yield from pool[first:end]


def _key(message: Mapping[str, Any]) -> str:
    """The same for one message wherever the log repeats it: results of tools by their calls, others by their ids."""
    if message.get("role") == "tool" and (call := text(message.get("tool_call_id"))):
        return f"call {call}"
    return text(message.get("id")) or repr((message.get("role"), message.get("content")))
