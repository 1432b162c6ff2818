"""How long to wait before something that failed is tried again."""

from dataclasses import dataclass

MOST_DOUBLINGS = 32  # more would be beyond any cap


@dataclass(slots=True)
class Backoff:
    """Exponential backoff: each failure doubles the pause up to a cap, a stable period resets it. Times in seconds.

    failures: in a row, none of them after a stable period.
    """

    first: float
    longest: float
    stable: float
    failures: int = 0

    def pause(self, lasted: float) -> float:
        """The pause after a failure, of something that had worked for `lasted` seconds."""
        self.failures = 1 if lasted >= self.stable else self.failures + 1
        return min(self.longest, self.first * 2.0 ** min(self.failures - 1, MOST_DOUBLINGS))
