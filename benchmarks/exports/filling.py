"""Talks in the database, as many as make an export in JSON lines of so many megabytes.

ARENA_DATA=… DATABASE_URL=… .venv/bin/python -m benchmarks.exports.filling 50
"""

import os
import random
import sys
from collections.abc import Iterator
from typing import Any

import django

WORDS = ("panel", "storage", "village", "council", "price", "meter", "dawn", "battery", "roof", "电力", "储能")
WRITTEN = 3  # times that a reply is in a line of JSON: as it was said, as it was heard, and in its call
REST_BYTES = 1_800  # of a reply's message, call and step besides
REPLIES, LONG_REPLIES, LONG_ONE_IN = 40, 400, 50  # of a run; of one run in so many
REPLY_BYTES = 1_500
ROWS_AT_ONCE = 1_000


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
    django.setup()
    fill(float(sys.argv[1]))


def fill(megabytes: float, seed: int = 1) -> None:
    from accounts.models import User  # noqa: PLC0415 - models exist after the set-up alone
    from experiments.models import Experiment, Participant, Provider, ProviderModel, Run  # noqa: PLC0415

    lots = random.Random(seed)
    provider = Provider.objects.create(name="exported", base_url="http://nowhere.invalid/v1")
    models = {s: ProviderModel.objects.create(provider=provider, slug=f"lab/{s}", upstream=s, label=s) for s in "AB"}
    owner, left, number = User.objects.get(username="bench"), megabytes * 1e6, 0
    while left > 0:
        number += 1
        config = {"prompt": "Share seven solar panels.", "max_turns": REPLIES}
        experiment = Experiment.objects.create(owner=owner, workflow="arena", title=f"Talk {number}", config=config)
        for seat, model in models.items():
            Participant.objects.create(experiment=experiment, seat=seat, model=model)
        run = Run.objects.create(experiment=experiment, state=Run.State.COMPLETED, stop_reason="max_turns", seed=number)
        for texts in _some(lots, LONG_REPLIES if number % LONG_ONE_IN == 0 else REPLIES):
            _say(run, models, texts)
            left -= sum(WRITTEN * len(text.encode()) + REST_BYTES for _at, text in texts)


def _some(lots: random.Random, count: int) -> Iterator[list[tuple[int, str]]]:
    for first in range(0, count, ROWS_AT_ONCE):
        yield [(at, _text(lots)) for at in range(first, min(count, first + ROWS_AT_ONCE))]


def _text(lots: random.Random) -> str:
    return " ".join(f"{word}{lots.randrange(1000)}" for word in lots.choices(WORDS, k=REPLY_BYTES // 10))


def _say(run: Any, models: dict[str, Any], texts: list[tuple[int, str]]) -> None:
    from experiments.models import Call, Message, Step  # noqa: PLC0415 - after the set-up

    seats = ["AB"[at % 2] for at, _text in texts]
    done: dict[str, Any] = {"run": run, "kind": "ask", "purpose": "reply", "state": "done"}
    steps = Step.objects.bulk_create(
        Step(key=f"turn/{at // 2 + 1}/{seat}", seat=seat, turn=at // 2 + 1, **done)
        for (at, _text), seat in zip(texts, seats, strict=True)
    )
    paid: dict[str, Any] = {"attempt": 1, "state": "completed", "request": {"temperature": 0.7}, "cost": "0.0012"}
    calls = Call.objects.bulk_create(
        Call(run=run, step=step, model=models[step.seat], text=text, input_tokens=900, output_tokens=300, **paid)
        for step, (_at, text) in zip(steps, texts, strict=True)
    )
    Message.objects.bulk_create(
        Message(run=run, step=step, call=call, seq=at + 1, turn=step.turn, seat=step.seat, raw_text=text, text=text)
        for step, call, (at, text) in zip(steps, calls, texts, strict=True)
    )


if __name__ == "__main__":
    main()
