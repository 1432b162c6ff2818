"""Compares what everybody has written down. Each check takes `Facts` and yields a sentence per difference; a check that
could not fail would be worth nothing, so tests/reliability/test_checks.py shows each of them a record that is wrong.
"""

from collections.abc import Callable, Iterator, Mapping

from benchmarks.faults.checks import ends, ledger, money, screens, shown, transcripts, words
from benchmarks.faults.facts import Facts

Check = Callable[[Facts], Iterator[str]]

CHECKS: Mapping[str, Check] = {
    "requests nobody recorded": ledger.unrecorded,
    "requests made twice": ledger.doubled,
    "answers nobody gave": ledger.ungiven,
    "steps asked again": ledger.repeated,
    "attempts out of order": ledger.disordered,
    "tokens that differ": ledger.miscounted,
    "costs taken for nothing": ledger.unpaid,
    "calls left open": ledger.left_open,
    "calls lost without their caller": ledger.lost_needlessly,
    "runs without an end": ends.unended,
    "runs the engine failed": ends.broken,
    "leases of nobody": ends.still_leased,
    "runs nobody drove": ends.undriven,
    "parts slow to end": ends.slow_to_end,
    "events with gaps": transcripts.gaps,
    "messages unlike their events": transcripts.messages,
    "messages unlike the provider's words": transcripts.sources,
    "pages unlike their replay": transcripts.pages,
    "words of people lost": transcripts.said,
    "screens unlike the record": screens.events,
    "screens with other words": screens.texts,
    "screens that missed an event": screens.gaps,
    "words lost beyond the bound": words.lost_too_many,
    "accounts that do not add up": money.accounts,
    "budgets overdrawn": money.overdrawn,
    "money still set aside": money.still_reserved,
    "ladders unlike their record": shown.ladders,
    "votes lost": shown.votes,
    "files cut or torn": shown.files,
    "requests that failed": shown.failures,
    "double clicks that counted twice": shown.doubled,
}


def differences(facts: Facts) -> dict[str, list[str]]:
    """What was found, by check; checks that found nothing are left out."""
    found = {name: list(check(facts)) for name, check in CHECKS.items()}
    return {name: sentences for name, sentences in found.items() if sentences}
