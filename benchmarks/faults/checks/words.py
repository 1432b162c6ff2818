"""Words that a provider had sent when a worker died: those of the last moment may be missing, and no others."""

from collections.abc import Iterator, Sequence

from benchmarks.faults.checks.ledger import LOST
from benchmarks.faults.facts import Called, Facts, Passed

DURABLE_SECONDS = 1.0


def lost_too_many(facts: Facts) -> Iterator[str]:
    seconds = float(facts.extra.get("durable_seconds", DURABLE_SECONDS))
    for call, row in _lost(facts):
        if row.left is None or _is_away(facts.away, row.left, seconds):
            continue
        kept, had = call.text, row.text_until(row.left - seconds)
        if not kept.startswith(had):
            yield f"call {call.id} ({call.step}) kept {len(kept)} characters; {len(had)} were older than {seconds:g} s"


def words_lost(facts: Facts) -> int:
    """In all, of every attempt that was lost."""
    return sum(max(0, len(row.text.split()) - len(call.text.split())) for call, row in _lost(facts))


def _lost(facts: Facts) -> Iterator[tuple[Called, Passed]]:
    passed = {row.request_id: row for row in facts.passed}
    for call in facts.calls:
        if call.state == LOST and call.id in passed:
            yield call, passed[call.id]


def _is_away(away: Sequence[tuple[float, float]], moment: float, seconds: float) -> bool:
    """Whether nothing could be written down in the time before a moment."""
    return any(begin < moment and end > moment - 2 * seconds for begin, end in away)
