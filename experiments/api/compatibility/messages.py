"""Messages and metrics in the shapes that the clients of LLM Arena and StarChamber know."""

from collections.abc import Mapping
from typing import Any

from experiments.models import Message, Run
from experiments.runs import metrics, tokens


def messages_of(run: Run, **which: Any) -> list[dict[str, object]]:
    """In order. which: conditions on them."""
    rows = run.messages.filter(superseded=False, **which).select_related("call").order_by("seq")
    slugs = slugs_of(run)
    return [message_shape(message, slugs) for message in rows]


def talk_of(run: Run) -> list[dict[str, object]]:
    """The messages of both sides, in order."""
    return messages_of(run, seat__in=("A", "B"))


def slugs_of(run: Run) -> dict[str, str]:
    """Seats to the models that sit in them."""
    return dict(run.experiment.participants.values_list("seat", "model__slug"))


def message_shape(message: Message, slugs: Mapping[str, str]) -> dict[str, object]:
    """content: as the other side sees it. What is not known is left out."""
    call = message.call
    shape = {
        "id": str(message.pk),
        "model": message.seat,
        "modelName": slugs.get(message.seat, message.model),
        "turn": message.turn,
        "content": message.text,
        "originalContent": message.raw_text,
        "thinking": message.reasoning or None,
        "timestamp": message.created.isoformat(),
        "tokensUsed": call.output_tokens if call else None,
        "filterMetadata": _filtered(message),
        "logprobs": _logprobs(message),
        "finishReason": message.finish_reason,
    }
    return {name: value for name, value in shape.items() if value is not None}


def metrics_of(run: Run, seats: tuple[str, ...] = ("A", "B")) -> dict[str, dict[str, object]]:
    """By seat. A score that the judge did not give is null, with the reason beside it."""
    return {
        seat: {
            "tokensUsed": found.tokens or 0,
            "goalDeviationScore": found.goal_deviation,
            "turnsToDeviate": found.turns_to_deviate,
            "cooperationScore": found.cooperation,
            "lastBehavioralNotes": found.turns[-1].rationale if found.turns else "",
            "sentimentHistory": [
                {"turn": point.turn, **point.sentiment, "unscoredReason": point.unscored_reason}
                for point in found.turns
            ],
        }
        for seat, found in metrics.run_metrics(run, seats).items()
    }


def turns_of(run: Run | None) -> int:
    """How many turns are over."""
    return run.steps.filter(kind="record", purpose="turn_completed").count() if run else 0


def _filtered(message: Message) -> dict[str, Any] | None:
    if message.filter is None:
        return None
    return {
        "wasFiltered": message.filter["changed"],
        "removedSections": message.filter["removed"],
        "filterConfidence": message.filter["confidence"],
        "filterReasoning": message.filter["reasoning"],
        "filterStatus": message.filter["status"],
    }


def _logprobs(message: Message) -> dict[str, Any] | None:
    """Absent where they were not asked for; not available where the provider gave none."""
    call = message.call
    if call is None or not call.request.get("logprobs"):
        return None
    view = tokens.token_view(call.logprobs or [], message.raw_text)
    return {
        "available": bool(view.tokens),
        "tokens": [_token(token) for token in view.tokens],
        "averageConfidence": view.confidence.average,
        "lowConfidenceTokens": [_token(token) for token in view.low],
    }


def _token(token: tokens.Token) -> dict[str, Any]:
    return {**_likely(token), "topAlternatives": [_likely(one) for one in token.alternatives]}


def _likely(one: tokens.Token | tokens.Alternative) -> dict[str, Any]:
    least = None if one.logprob is None else max(one.logprob, tokens.LEAST)  # JSON knows no infinity
    return {"token": one.token, "logprob": least, "probability": one.probability}
