"""Every run comes to an end, or waits for a person and for nothing else."""

from collections.abc import Iterator

from benchmarks.faults.facts import Facts

UNDRIVEN_SECONDS = 60.0
DRAIN_SECONDS = 30.0
ENDS = ("completed", "stopped", "failed")


def unended(facts: Facts) -> Iterator[str]:
    for run in facts.runs:
        if run.state not in ENDS and not run.is_waiting_by_design:
            yield f"{run.workflow} run {run.id} is {run.state}, and nothing moves it"


def still_leased(facts: Facts) -> Iterator[str]:
    for run in facts.runs:
        if run.has_lease:
            yield f"{run.workflow} run {run.id} is {run.state}, and somebody still has its lease"


def undriven(facts: Facts) -> Iterator[str]:
    """Nobody drove it, for longer than a lease and a sweep may take together."""
    bound = float(facts.extra.get("undriven_seconds", UNDRIVEN_SECONDS))
    for run, seconds in facts.extra.get("undriven", {}).items():
        if seconds > bound:
            yield f"run {run} had no live lease for {seconds:.0f} s"


def slow_to_end(facts: Facts) -> Iterator[str]:
    """What is asked to end stops taking work, writes down what it has, and goes."""
    bound = float(facts.extra.get("drain_seconds", DRAIN_SECONDS))
    for name, seconds in facts.extra.get("drains", ()):
        if seconds > bound:
            yield f"{name} was asked to end, and took {seconds:.0f} s"


def broken(facts: Facts) -> Iterator[str]:
    """A run may fail by what a provider does, and by nothing else that goes wrong around it."""
    for run in facts.runs:
        if run.reason == "internal_error":
            yield f"{run.workflow} run {run.id} was ended by an error of the engine"
