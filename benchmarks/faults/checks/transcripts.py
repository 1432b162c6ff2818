"""Rows, events and the provider's words tell the same, byte for byte."""

from collections.abc import Iterator, Mapping

from benchmarks.faults.checks.ledger import COMPLETED
from benchmarks.faults.facts import Facts


def gaps(facts: Facts) -> Iterator[str]:
    for run in facts.runs:
        seqs = sorted(run.events)
        if seqs != list(range(1, run.last_seq + 1)):
            missing = sorted(set(range(1, run.last_seq + 1)) - set(seqs))
            yield f"run {run.id} has {len(seqs)} events of {run.last_seq}; missing: {missing[:10]}"


def messages(facts: Facts) -> Iterator[str]:
    for run in facts.runs:
        yield from _unlike(f"run {run.id}, message", run.messages, run.told)


def pages(facts: Facts) -> Iterator[str]:
    for run in facts.runs:
        yield from _unlike(f"{run.workflow} run {run.id}, place", run.page, run.replay)


def sources(facts: Facts) -> Iterator[str]:
    """What a completed call holds is what the provider's stream said, no word more or less."""
    passed = {row.request_id: row for row in facts.passed}
    for call in facts.calls:
        row = passed.get(call.id)
        if call.state == COMPLETED and row is not None and row.text != call.text:
            yield f"call {call.id} ({call.step}) holds {len(call.text)} characters; {len(row.text)} were sent"


def said(facts: Facts) -> Iterator[str]:
    """What a person said, and the platform has acknowledged."""
    by_run = {run.id: run.said for run in facts.runs}
    for run, key, text in facts.extra.get("said", ()):
        kept = by_run.get(run, {}).get(key)
        if kept is None or (text and kept != text):
            yield f"run {run}: what was said at {key} is {'missing' if kept is None else 'something else now'}"


def _unlike(what: str, one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(one.keys() | other.keys()):
        if one.get(name) != other.get(name):
            yield f"{what} {name}: {_short(one.get(name))} in the rows, {_short(other.get(name))} by its events"


def _short(text: str | None) -> str:
    return "nothing" if text is None else f"“{text[:160]}”"
