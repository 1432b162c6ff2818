"""What came of a load, line by line: measured, the bar, and whether it was passed."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.load.play import Outcome
from benchmarks.load.samples import Sample

LONG_SECONDS = 500  # a shorter load says nothing about what grows
ENOUGH_SAMPLES = 6
TOO_SLOW = 4408
ROOM = {"mib": 4.0, "descriptors": 4.0}  # by which even an idle process varies


class Line(NamedTuple):
    """is_passed None: there is no bar, or too little was measured to say."""

    what: str
    measured: str
    bar: str = ""
    is_passed: bool | None = None


def lines(outcome: Outcome) -> list[Line]:
    return [
        *_delay(outcome),
        *_conservation(outcome),
        *_sleepers(outcome),
        *_asked(outcome),
        *_held(outcome),
        *_cost(outcome),
    ]


def printed(found: list[Line]) -> Iterator[str]:
    widths = [max(len(line[at]) for line in found) for at in range(3)]
    for line in found:
        verdict = {True: "passed", False: "MISSED", None: ""}[line.is_passed]
        cells = [cell.ljust(width) for cell, width in zip(line[:3], widths, strict=True)]
        yield "   ".join([*cells, verdict]).rstrip()


def share(ages: Counter[int], part: float) -> int:
    """The age in milliseconds that so large a part of the tokens was not older than."""
    left = part * ages.total()
    for age in sorted(ages):
        left -= ages[age]
        if left <= 0:
            return age
    return 0


def _delay(outcome: Outcome) -> Iterator[Line]:
    order, ages = outcome.order, outcome.seen["ages"]
    what = f"{order.runs} live runs at {order.rate:g} tokens/s, {order.viewers} viewers, {outcome.seconds:.0f} s"
    yield Line(what, f"{outcome.seen['counts']['messages']} messages to viewers, {len(ages) and ages.total()} stamps")
    if not ages:
        yield Line("age of a token at its viewer", "nothing arrived", "p95 < 300 ms", is_passed=False)
        return
    yield Line("age of a token at its viewer: p50", f"{share(ages, 0.5)} ms")
    yield _below("age of a token at its viewer: p95", share(ages, 0.95), 300, "ms")
    yield _below("age of a token at its viewer: p99", share(ages, 0.99), 1000, "ms")


def _conservation(outcome: Outcome) -> Iterator[Line]:
    """Each run whose end was shown: what its viewers have in the end is what the rows have, event by event."""
    records, truth = outcome.seen["records"], outcome.rows["records"]
    shown = sum(digests.total() for digests in records.values())
    wrong = sum(digests.total() - digests[truth.get(run, "")] for run, digests in records.items())
    counts = outcome.seen["counts"]
    yield Line("runs played, and seen to their end by viewers", f"{len(truth)} runs, {shown} times seen")
    yield _none("viewers whose text or events differ from the rows after replay", wrong)
    yield _none("runs with a hole in the numbers of their events", outcome.rows["jumps"])
    yield _none("messages that differ from their call or their event", outcome.rows["unequal"])
    yield _none("runs that did not come to an end", outcome.rows["live"])
    yield _none("viewers cut off or refused", sum(outcome.seen["closes"].values()) + counts["refused"])
    healed = f"{counts['holes']}, {counts['skipped']}, {counts['healed at the end']}"
    yield Line("holes in live text, in live events, texts filled by the finished message", healed)


def _sleepers(outcome: Outcome) -> Iterator[Line]:
    codes = outcome.seen["sleepers"]
    if codes:
        told = ", ".join(map(str, codes))
        yield Line("a viewer that reads nothing is closed with", told, str(TOO_SLOW), set(codes) == {TOO_SLOW})


def _asked(outcome: Outcome) -> Iterator[Line]:
    if not (asked := outcome.asked):
        return
    failed = sum(count for status, count in asked["statuses"].items() if not status.startswith(("2", "4")))
    told = ", ".join(f"{count} x {status}" for status, count in sorted(asked["statuses"].items()))
    yield _none(f"API requests that failed, of {asked['asked']} ({told})", failed)
    yield Line("API requests: p50, p99", f"{asked['p50']}, {asked['p99']} ms")
    yield _below("API requests: p95", asked["p95"], 200, "ms")


def _held(outcome: Outcome) -> Iterator[Line]:
    """Early against late: the second fifth, when all is warm, and the last."""
    samples = outcome.samples
    if len(samples) < ENOUGH_SAMPLES:
        return
    fifth = max(1, len(samples) // 5)
    early, late = samples[fifth : 2 * fifth], samples[-fifth:]
    is_judged = outcome.seconds >= LONG_SECONDS
    for name in _ours(outcome):
        of = lambda sample, name=name: sample.parts[name].mib if name in sample.parts else 0.0  # noqa: E731
        yield _grown(f"memory of {name}", early, late, of, "MiB", ROOM["mib"], is_judged=is_judged)
        fds = lambda sample, name=name: sample.parts[name].descriptors if name in sample.parts else 0.0  # noqa: E731
        yield _grown(f"descriptors of {name}", early, late, fds, "", ROOM["descriptors"], is_judged=is_judged)
    for name in samples[-1].counts:
        of = lambda sample, name=name: sample.counts.get(name, 0.0)  # noqa: E731
        yield _grown(name, early, late, of, "", 4.0, is_judged=is_judged)
    yield from _returned(outcome)


def _returned(outcome: Outcome) -> Iterator[Line]:
    for name in ("web", "worker"):
        before, after = outcome.before.parts[name].descriptors, outcome.after.parts[name].descriptors
        told = f"{before:.0f} → {after:.0f}"
        yield Line(f"descriptors of {name}, before and after", told, "as before", after <= before + 10)
    for name, after in outcome.after.counts.items():
        told = f"{outcome.before.counts[name]:.1f} → {after:.1f}"
        yield Line(f"{name}, before and after", told, "as before", after <= outcome.before.counts[name] + 6)


def _cost(outcome: Outcome) -> Iterator[Line]:
    first, last = outcome.samples[0], outcome.samples[-1]
    seconds, all_seconds = last.at - first.at, outcome.seconds
    part = seconds / all_seconds if all_seconds else 1
    counts, spent = outcome.seen["counts"], {}
    for name in sorted(last.parts):
        if name in first.parts:
            spent[name] = last.parts[name].cpu - first.parts[name].cpu
            yield Line(f"CPU of {name}", f"{spent[name]:.1f} s, {100 * spent[name] / seconds:.0f} % of a core")
    messages, tokens = counts["messages"] * part, outcome.order.rate * outcome.order.runs * seconds
    watched = outcome.order.rate * outcome.order.viewers * seconds
    if messages:
        yield Line("CPU of web per message to a viewer", f"{1e6 * spent['web'] / messages:.1f} µs")
        yield Line("CPU of web per token to a viewer", f"{1e6 * spent['web'] / watched:.1f} µs")
    yield Line("CPU of worker per token of a model", f"{1e6 * spent['worker'] / tokens:.1f} µs")
    yield Line("CPU of all, viewers and provider too", f"{100 * sum(spent.values()) / seconds:.0f} % of a core")


def _ours(outcome: Outcome) -> list[str]:
    return [
        name for name in sorted(outcome.samples[-1].parts) if not name.startswith(("viewers", "asking", "provider"))
    ]


def _below(what: str, measured: float, bar: float, unit: str) -> Line:
    return Line(what, f"{measured} {unit}", f"< {bar} {unit}", measured < bar)


def _none(what: str, count: int) -> Line:
    return Line(what, str(count), "0", count == 0)


def _grown(
    what: str,
    early: list[Sample],
    late: list[Sample],
    of: Callable[[Sample], float],
    unit: str,
    room: float,
    *,
    is_judged: bool,
) -> Line:
    before, after = (sum(map(of, samples)) / len(samples) for samples in (early, late))
    is_passed = after - before < max(0.05 * before, room) if is_judged else None
    return Line(what, f"{before:.1f} → {after:.1f} {unit}".rstrip(), "grows < 5 %", is_passed)
