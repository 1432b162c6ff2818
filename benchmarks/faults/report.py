"""What a performance came to, as a table for people."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.faults.checks import CHECKS, ledger, words
from benchmarks.faults.facts import Facts
from benchmarks.faults.kinds import Happening

MOST = 12  # sentences of one check
STATES = ("completed", "stopped", "failed", "waiting")


def lines(
    facts: Facts, happened: Sequence[Happening], found: Mapping[str, Sequence[str]], kinds: Mapping[str, str]
) -> Iterable[str]:
    yield from _faults(facts, happened)
    yield from _runs(facts, kinds)
    yield ""
    lost = [call for call in facts.calls if call.state == ledger.LOST]
    viewers = sum(screen.joins for screen in facts.screens)
    longest = max(facts.extra.get("undriven", {}).values(), default=0.0)
    yield f"requests the provider accepted   {len(facts.served)}; calls of ours {len(facts.calls)}"
    yield f"calls lost with a worker, and asked again   {len(lost)}"
    yield f"words lost with them   {words.words_lost(facts)} (bound: what was sent in the last second before)"
    yield f"calls repeated that were recorded   {len(found.get('steps asked again', ()))}"
    yield f"viewers   {len(facts.screens)}, {viewers} connections"
    extra = facts.extra
    votes, said, files = (len(extra[name]) for name in ("votes", "said", "files"))
    yield f"votes acknowledged   {votes}; words of people {said}; files {files}"
    yield f"longest time a run was without a driver   {longest:.1f} s"
    slowest = max((seconds for _name, seconds in facts.extra.get("drains", ())), default=0.0)
    yield f"parts that were asked to end   {len(extra.get('drains', ()))}, the slowest took {slowest:.1f} s"
    yield ""
    for name in CHECKS:
        sentences = found.get(name, ())
        if sentences:
            yield f"DIFFERENT   {name}: {len(sentences)}"
            yield from (f"    {sentence}" for sentence in sentences[:MOST])
    yield f"{len(CHECKS)} checks, differences found: {sum(map(len, found.values()))}"


def _faults(facts: Facts, happened: Sequence[Happening]) -> Iterable[str]:
    yield "faults injected"
    for kind, count in sorted(Counter(one.kind for one in happened).items()):
        notes = Counter(one.note for one in happened if one.kind == kind and one.note)
        told = ", ".join(f"{note} x{times}" if times > 1 else note for note, times in notes.items())
        yield f"  {kind:<18} {count:>4}   {told[:90]}"
    for kind, count in sorted(Counter(row.fault for row in facts.passed if row.fault).items()):
        yield f"  {'answer ' + kind:<18} {count:>4}"


def _runs(facts: Facts, kinds: Mapping[str, str]) -> Iterable[str]:
    table: dict[str, Counter[str]] = {}
    for run in facts.runs:
        table.setdefault(kinds.get(run.id, run.workflow), Counter())[run.state] += 1
    yield ""
    yield f"{'runs':<20}" + "".join(f"{state:>11}" for state in STATES) + f"{'other':>11}"
    for kind, states in sorted(table.items()):
        others = sum(count for state, count in states.items() if state not in STATES)
        yield f"  {kind:<18}" + "".join(f"{states[state]:>11}" for state in STATES) + f"{others:>11}"
    reasons = Counter(run.reason for run in facts.runs if run.state in ("failed", "stopped"))
    if reasons:
        yield "ended because   " + ", ".join(f"{reason} x{count}" for reason, count in sorted(reasons.items()))
