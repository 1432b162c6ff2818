"""The provider's ledger against ours: what it has accepted is recorded once, and nothing recorded was asked again."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from benchmarks.faults.facts import Called, Facts

SENT, COMPLETED, FAILED, LOST, STOPPED = "sent", "completed", "failed", "lost", "stopped"
FREE = ("unsent", "refused")  # sources of a cost that is known to be nothing
TRIED_AGAIN = (FAILED, LOST)  # states after which the same step may be asked once more


def unrecorded(facts: Facts) -> Iterator[str]:
    known = {call.id for call in facts.calls}
    for served in facts.served:
        if served.request_id not in known:
            yield f"the provider answered {served.request_id or 'a request without an id'}, which is no call of ours"


def doubled(facts: Facts) -> Iterator[str]:
    for book, ids in (("provider", facts.served), ("proxy", facts.passed)):
        for request_id, times in Counter(row.request_id for row in ids).items():
            if times > 1:
                yield f"the {book} was asked {times} times for call {request_id}"


def ungiven(facts: Facts) -> Iterator[str]:
    """A completed call has its answer from the provider."""
    served = {row.request_id: row for row in facts.served}
    for call in facts.calls:
        if call.state == COMPLETED and call.id not in served:
            yield f"call {call.id} ({call.step}) is completed, and the provider has never heard of it"


def repeated(facts: Facts) -> Iterator[str]:
    """At most one attempt of a step is used, and none comes after it."""
    for run in facts.runs:
        for step, calls in _by_step(run.calls).items():
            used = [call.attempt for call in calls if call.state == COMPLETED]
            if len(used) > 1:
                yield f"run {run.id}: {len(used)} attempts of {step} were used"
            elif any(call.state not in TRIED_AGAIN for call in calls[:-1]):
                states = ", ".join(call.state for call in calls)
                yield f"run {run.id}: {step} was asked again after its answer ({states})"


def disordered(facts: Facts) -> Iterator[str]:
    """Attempts are numbered without a hole, and a step that is done has an answer."""
    for run in facts.runs:
        by_step = _by_step(run.calls)
        for step, calls in by_step.items():
            if [call.attempt for call in calls] != list(range(1, len(calls) + 1)):
                yield f"run {run.id}: the attempts of {step} are {[call.attempt for call in calls]}"
        for step in run.steps:
            calls = by_step.get(step.key, [])
            if step.kind == "ask" and step.state == "done" and calls and calls[-1].state != COMPLETED:
                yield f"run {run.id}: {step.key} is done, and its last call is {calls[-1].state}"


def miscounted(facts: Facts) -> Iterator[str]:
    """What the provider says that it has sent is what we say that we were billed."""
    served = {row.request_id: row for row in facts.served}
    for call in facts.calls:
        row = served.get(call.id)
        if row is None or call.state != COMPLETED or call.is_estimated or row.outcome != "finished":
            continue
        if call.output_tokens != row.tokens:
            yield f"call {call.id} ({call.step}): {call.output_tokens} tokens here, {row.tokens} at the provider"


def unpaid(facts: Facts) -> Iterator[str]:
    """What the provider has worked for is never taken to have cost nothing; what is lost counts as set aside."""
    served = {row.request_id: row for row in facts.served}
    for call in facts.calls:
        row = served.get(call.id)
        if row is not None and row.tokens and call.cost_source in FREE:
            yield f"call {call.id} ({call.step}) is said to have cost nothing; the provider sent {row.tokens} tokens"
        if call.state == LOST and (call.cost is not None or call.reserved is None):
            yield f"call {call.id} ({call.step}) is lost, and counts {call.cost} of {call.reserved} set aside"


def left_open(facts: Facts) -> Iterator[str]:
    for call in facts.calls:
        if call.state == SENT:
            yield f"call {call.id} ({call.step}) is still under way, and nothing is"


def lost_needlessly(facts: Facts) -> Iterator[str]:
    """With callers, a call is lost with its caller and with nothing else."""
    for call in facts.calls if facts.extra.get("has_callers") else ():
        if call.state == LOST and not call.caller_died:
            yield f"call {call.id} ({call.step}) is lost, and its caller had not died"


def _by_step(calls: Sequence[Called]) -> dict[str, list[Called]]:
    found: dict[str, list[Called]] = defaultdict(list)
    for call in calls:
        found[call.step].append(call)
    return {step: sorted(group, key=lambda call: call.attempt) for step, group in found.items()}
