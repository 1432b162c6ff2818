"""What happened in a run as events of Inspect AI: a span for each participant, in it each call with what was asked and
answered, each judgment and each value of an instrument as a score, and what an operator did.

Each call repeats what was said before it. What a model is shown therefore stands once, among the attachments of the
sample, and the calls name it: https://inspect.aisi.org.uk/eval-logs.html
"""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from experiments.models import CALLS_UNDER_WAY, Annotation, Call, Judgment, Run
from experiments.runs.reports.document import annotations_of, each, intervention, is_intervention

SCORER = "arena_lab_judge"
INSTRUMENT = "arena_lab_instrument"
OPERATOR = "operator"
JUDGING = frozenset({"judge"})  # purposes of calls that score
STOP_REASONS = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter", "tool_calls": "tool_calls"}
CONFIG = {  # of a request, as Inspect calls it
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "stop": "stop_seqs",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "reasoning_effort": "reasoning_effort",
    "top_logprobs": "top_logprobs",
}
SHORT = 100  # characters that stand in the event itself
Data = dict[str, object]


class Attachments(dict[str, str]):
    """Texts by their hash."""

    def kept(self, text: str) -> str:
        """The text, or what names it."""
        if len(text) <= SHORT:
            return text
        key = hashlib.sha256(text.encode()).hexdigest()[:32]
        self[key] = text
        return f"attachment://{key}"


def events(run: Run) -> tuple[list[Data], Attachments]:
    """In the order in which they began, with the texts that they name."""
    attachments = Attachments()
    happened = [
        *_calls(run, attachments),
        *_scores(run, attachments),
        *(
            _event("info", run, step.ended or run.created, source=OPERATOR, data=intervention(step))
            for step in each(run.steps.order_by("id"))
            if is_intervention(step)
        ),
    ]
    spans: dict[object, list[tuple[datetime, Data]]] = {}
    for at, event in happened:
        spans.setdefault(event.get("span_id"), []).append((at, event))
    for span, within in spans.items():
        if span is not None:
            first, last = min(at for at, _event in within), max(at for at, _event in within)
            seat = str(span).partition("/")[2]
            is_judge = all(event.get("event") == "score" or _is_judging(event) for _at, event in within)
            kind = "scorer" if is_judge else "agent"
            happened.append(_event("span_begin", run, first, id=span, span_id=span, name=seat, type=kind))
            happened.append(_event("span_end", run, last, id=span, span_id=span))
    order = {"span_begin": 0, "span_end": 2}
    happened.sort(key=lambda one: (one[0], order.get(str(one[1]["event"]), 1)))
    return [event for _at, event in happened], attachments


def usage(calls: list[Call]) -> Data | None:
    """Tokens and US dollars; None when none are known. The cost is left out unless all of it is known."""
    known = [call for call in calls if call.input_tokens is not None or call.output_tokens is not None]
    if not known:
        return None
    read, written = (sum(getattr(c, name) or 0 for c in known) for name in ("input_tokens", "output_tokens"))
    found: Data = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    for ours, theirs in (("reasoning_tokens", "reasoning_tokens"), ("cached_input_tokens", "input_tokens_cache_read")):
        counts = [getattr(call, ours) for call in known if getattr(call, ours) is not None]
        found |= {theirs: sum(counts)} if counts else {}
    costs = [call.cost for call in calls]
    return found | ({"total_cost": float(sum(cost for cost in costs if cost))} if None not in costs else {})


def _calls(run: Run, attachments: Attachments) -> Iterator[tuple[datetime, Data]]:
    """Every attempt, also those that failed."""
    messages = dict(run.messages.values_list("step", "pk"))
    for call in each(run.calls.select_related("model", "step").defer("logprobs")):
        body, step = call.request, call.step
        answer: Data = {"role": "assistant", "content": content_of(call.reasoning, call.text), "source": "generate"}
        if step.pk in messages and call.state == Call.State.COMPLETED:
            answer["id"] = str(messages[step.pk])
        has_answered = bool(call.text or call.reasoning)
        choice = {"message": answer, "stop_reason": STOP_REASONS.get(call.finish_reason, "unknown")}
        output = {
            "model": call.served_model or call.model.slug,
            "choices": [choice] if has_answered else [],
            "usage": usage([call]),
            "time": call.seconds,
            "error": call.error or None,
        }
        about = {
            "turn": step.turn,
            "purpose": step.purpose,
            "step": step.key,
            "attempt": call.attempt,
            "state": call.state,
            "served_by": call.served_provider or None,
        }
        ended = None if call.seconds is None else (call.sent + timedelta(seconds=call.seconds)).isoformat()
        yield _event(
            "model",
            run,
            call.sent,
            uuid=str(call.pk),
            span_id=_span(run, step.seat),
            metadata=_given(about),
            pending=True if call.state in CALLS_UNDER_WAY else None,
            model=call.model.slug,
            role=step.seat or None,
            input=[_asked(one, attachments) for one in body.get("messages", [])],
            tools=[],
            tool_choice="none",
            config={theirs: body[ours] for ours, theirs in CONFIG.items() if body.get(ours) is not None},
            output=_given(output),
            error=call.error or None,
            completed=ended,
            working_time=call.seconds,
        )


def content_of(reasoning: str, text: str) -> str | list[Data]:
    """Of a message."""
    return [{"type": "reasoning", "reasoning": reasoning}, {"type": "text", "text": text}] if reasoning else text


def _asked(message: Mapping[str, Any], attachments: Attachments) -> Data:
    """One message of a request. A picture is named; it is not in the log."""
    role, content = message.get("role"), message.get("content")
    if isinstance(content, list):
        texts = (part.get("text") or f"[{part.get('type', 'part')}]" for part in content)
        return {"role": role, "content": [{"type": "text", "text": attachments.kept(text)} for text in texts]}
    return {"role": role, "content": attachments.kept(content or "")}


def _scores(run: Run, attachments: Attachments) -> Iterator[tuple[datetime, Data]]:
    for judgment in run.judgments.select_related("step").order_by("turn", "id"):
        if value := given_scores(judgment):
            about = {"seat": judgment.subject, "turn": judgment.turn, "judge": judgment.judge}
            explanation = attachments.kept(judgment.rationale) or None
            score = _given({"value": value, "explanation": explanation, "metadata": about})
            seat = judgment.judge_seat or judgment.step.seat or "judge"
            about_event = {"score": score, "intermediate": True, "scorer": SCORER, "span_id": _span(run, seat)}
            yield _event("score", run, judgment.created, **about_event)
    for one in annotations_of(run).exclude(value=None).select_related("step"):
        score = annotation_score(one)
        score["explanation"] = attachments.kept(str(score.get("explanation", ""))) or None
        span = _span(run, (one.step.seat if one.step else "") or "judge")
        about_event = {"score": _given(score), "intermediate": True, "scorer": INSTRUMENT, "span_id": span}
        yield _event("score", run, one.created, **about_event)


def annotation_score(one: Annotation) -> Data:
    """What an instrument found, with what it quotes: `citations` name messages of the sample by their ids."""
    about = {
        "scorer": INSTRUMENT,
        "instrument": str(one.version),
        "version": str(one.version_id),
        **{name: getattr(one, name) for name in ("dimension", "unit", "place", "turn", "subject", "judge")},
        **{name: getattr(one, name) for name in ("confidence", "citations", "is_verified")},
        "message": one.message_id and str(one.message_id),
    }
    return _given({"value": one.value, "explanation": one.rationale or None, "metadata": _given(about)})


def given_scores(judgment: Judgment) -> dict[str, float]:
    return {name: score for name, score in (judgment.scores or {}).items() if score is not None}


def _is_judging(event: Data) -> bool:
    about = event.get("metadata")
    return isinstance(about, dict) and about.get("purpose") in JUDGING


def _event(kind: str, run: Run, at: datetime, **fields: object) -> tuple[datetime, Data]:
    """working_start: seconds since the run began."""
    since = max(0.0, (at - (run.started or run.created)).total_seconds())
    return at, _given({"event": kind, "timestamp": at.isoformat(), "working_start": since, **fields})


def _given(fields: Mapping[str, object]) -> Data:
    return {name: value for name, value in fields.items() if value is not None}


def _span(run: Run, seat: str) -> str | None:
    return f"{run.pk}/{seat}" if seat else None
