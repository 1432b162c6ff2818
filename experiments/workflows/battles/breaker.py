"""A judge that only fails is given up, so that a broken key does not go through a hundred thousand battles."""

from dataclasses import dataclass

from experiments.workflows.base.steps import Outcome

MOST_FAILURES = 20  # in a row, all of the same kind
NOTHING_TO_SHOW = "no_material"  # an output that is missing or unreadable is no fault of who was to be asked
OF_ONE_REQUEST = frozenset({"refused", "context_exceeded", "no_material", "empty_answer", "bad_answer", "tool_call"})


@dataclass(slots=True)
class Breaker:
    """Counts the failures of one seat. Those that may be the fault of a single request count only as long as nothing
    has ever succeeded: a few samples that a provider refuses are no broken judge.
    """

    kind: str = ""
    failures: int = 0
    error: str = ""
    has_succeeded: bool = False

    def note(self, outcome: Outcome) -> None:
        if self.is_broken or outcome.error_kind == NOTHING_TO_SHOW:
            return
        if outcome.ok:
            self.kind, self.failures, self.has_succeeded = "", 0, True
            return
        self.failures = self.failures + 1 if outcome.error_kind == self.kind else 1
        self.kind, self.error = outcome.error_kind, outcome.error

    @property
    def is_broken(self) -> bool:
        return self.failures >= MOST_FAILURES and not (self.has_succeeded and self.kind in OF_ONE_REQUEST)

    def message(self, called: str) -> str:
        """Why nothing more is asked of whom it is `called`."""
        return (
            f"{called} failed {self.failures} times in a row with the same error, so no more is asked of it: "
            f"{self.error} Remove the cause and resume."
        )
