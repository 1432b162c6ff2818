"""Runs written into the database as the engine would leave them, for reports of what is hard to play."""

import math
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from experiments.models import Call, Experiment, Judgment, Message, Participant, Provider, ProviderModel, Run, Step
from experiments.workflows import REGISTRY
from experiments.workflows.base.judge import SENTIMENTS

CONFIGS = {
    workflow: REGISTRY[workflow].config(**asked).model_dump(mode="json")
    for workflow, asked in {
        "arena": {"prompt": "Share seven solar panels.", "gap_seconds": 0},
        "starchamber": {
            "context": "You are a careful archivist.",
            "preset": "technical-expert",
            "persona": "Dr. Vega",
            "first_message": "What do you keep?",
        },
        "council": {"question": "Why is the sky blue?"},
        "debate": {"prompt": "How should our lab share one telescope?"},
        "coding": {"cycles": 4},
    }.items()
}
CASTS = {
    "arena": ("A", "B", "judge", "filter"),
    "starchamber": ("model", "judge"),
    "council": ("member-1", "member-2", "member-3", "chair", "chair-2", "title"),
    "debate": ("refiner", "A", "B", "C", "summarizer", "pool-1"),
    "judging": ("judge",),
    "coding": ("coder-1", "coder-2", "coder-3", "coder-4"),
}
FILTERED = {"changed": True, "removed": ["plan"], "confidence": 0.9, "reasoning": "A plan.", "status": "filtered"}
SCORES = {"goal_deviation": 12.0, "cooperation": 0.4, **dict.fromkeys(SENTIMENTS, 0.25)}


class Record:
    def __init__(self, owner: Any, workflow: str = "arena", config: dict[str, Any] | None = None, **run: Any) -> None:
        self.now = timezone.now() - timedelta(minutes=10)
        self.models = {seat: self._model(seat) for seat in CASTS[workflow]}
        experiment = Experiment.objects.create(
            owner=owner,
            workflow=workflow,
            title=run.pop("title", "A crafted run"),
            config={**CONFIGS.get(workflow, {}), **(config or {})},
        )
        seats = self.models.items()
        Participant.objects.bulk_create(Participant(experiment=experiment, seat=seat, model=one) for seat, one in seats)
        fields = {"state": "completed", "stop_reason": "max_turns", "seed": 7, "started": self.now,
                  "ended": self.now + timedelta(seconds=245)}  # fmt: skip
        self.run = Run.objects.create(experiment=experiment, **{**fields, **run})
        self._seq = 0

    def _model(self, seat: str) -> ProviderModel:
        provider, _ = Provider.objects.get_or_create(name="lab", defaults={"base_url": "http://localhost:1/v1"})
        slug = f"lab/{seat.lower()}"
        fields = {"provider": provider, "upstream": slug, "label": f"{seat} model"}
        return ProviderModel.objects.get_or_create(slug=slug, defaults=fields)[0]

    def step(self, key: str, kind: str = "record", **fields: Any) -> Step:
        defaults = {"state": "done", "ended": timezone.now(), "purpose": kind}
        return Step.objects.create(run=self.run, key=key, kind=kind, **{**defaults, **fields})

    def turn(self, turn: int) -> None:
        self.step(f"turn/{turn}", purpose="turn_started", turn=turn)

    def completed(self, turn: int) -> None:
        self.step(f"turn/{turn}/completed", purpose="turn_completed", turn=turn)

    def call(self, step: Step, **fields: Any) -> Call:
        defaults = {"attempt": 1, "state": "completed", "model": self.models[step.seat],
                    "request": {"temperature": 0.7},
                    "finish_reason": "stop", "input_tokens": 100, "output_tokens": 20, "reasoning_tokens": 5,
                    "cost": Decimal("0.0012"), "seconds": 1.5, "served_model": f"served-{step.seat}"}  # fmt: skip
        return Call.objects.create(run=self.run, step=step, **{**defaults, **fields})

    def reply(self, seat: str, turn: int, said: str, *, call: dict[str, Any] | None = None, **fields: Any) -> Message:
        key = f"turn/{turn}/{seat}/{self._seq}"
        step = self.step(key, "ask", purpose="reply", seat=seat, turn=turn)
        made = self.call(step, text=said, **(call or {}))
        defaults = {"raw_text": said, "text": said, "model": made.model.label, "finish_reason": made.finish_reason}
        return self._message(step, call=made, turn=turn, seat=seat, **{**defaults, **fields})

    def asked(self, key: str, seat: str, turn: int, said: str, *, purpose: str = "reply", **fields: Any) -> Message:
        """by: the seat whose model answered instead."""
        step = self.step(key, "ask", purpose=purpose, seat=seat, turn=turn)
        call = self.call(step, text=said, **({"model": self.models[fields.pop("by")]} if "by" in fields else {}))
        same = {"raw_text": said, "text": said, "model": call.model.label, "finish_reason": "stop", "call": call}
        return self._message(step, turn=turn, seat=seat, **{**same, **fields})

    def failed(self, key: str, seat: str, turn: int, *, purpose: str = "reply", **fields: Any) -> Call:
        step = self.step(key, "ask", purpose=purpose, seat=seat, turn=turn, state="failed")
        without = dict.fromkeys(("input_tokens", "output_tokens", "reasoning_tokens", "cost"))
        same = {"state": "failed", "error_kind": "overloaded", "error": "The provider is overloaded.", **without}
        return self.call(step, **{**same, "finish_reason": "", **fields})

    def failure(self, seat: str, turn: int, error: str, **fields: Any) -> Call:
        self._seq += 1
        return self.failed(f"turn/{turn}/{seat}/failed/{self._seq}", seat, turn, error=error, **fields)

    def judged(self, turn: int, scores: dict[str, Any] | None = None, **fields: Any) -> None:
        """scores: by subject; None for one that the judge gave nothing for."""
        self._seq += 1
        step = self.step(f"turn/{turn}/judge/{self._seq}", purpose="judge_evaluation_completed", turn=turn)
        for subject, given in (scores or {}).items():
            reason = "" if given else "The judge's answer could not be used: it is no JSON."
            defaults = {"confidence": 0.75 if given else None, "unscored_reason": reason, "judge": "judge model"}
            row = {**defaults, **fields}
            Judgment.objects.create(run=self.run, step=step, turn=turn, subject=subject, scores=given, **row)

    def pause(self, seat: str, turn: int, action: str, *, reason: str = "turn_start", **data: Any) -> None:
        self._seq += 1
        said = {"default": "The prompt as offered.", "actions": [], "action": action, "text": "", "edited": False,
                "by": "alice", "error": "", **data}  # fmt: skip
        self.step(f"turn/{turn}/{seat}/prompt/{self._seq}", "listen", purpose=reason, seat=seat, turn=turn, data=said)

    def deed(self, kind: str, seat: str, turn: int, **data: Any) -> None:
        self._seq += 1
        told = {"key": "x", "kind": kind, "seat": seat, "turn": turn, "by": "alice", **data}
        self.step(f"turn/{turn}/{seat}/planned/{self._seq}", purpose="intervention", turn=turn, data=told)

    def _message(self, step: Step, **fields: Any) -> Message:
        self._seq += 1
        return Message.objects.create(run=self.run, step=step, seq=self._seq, **fields)

    def fetched(self) -> Run:
        return Run.objects.with_totals().get(pk=self.run.pk)


def logprobs(*shares: float) -> list[dict[str, Any]]:
    """Tokens `t0`, `t1` … with these probabilities, 0 to 1."""
    return [
        {"token": f" t{n}", "logprob": math.log(share) if share else -9999.0, "alternatives": []}
        for n, share in enumerate(shares)
    ]
