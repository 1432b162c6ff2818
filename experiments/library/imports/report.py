"""What an import found and did, for its page and the API."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

MOST_SHOWN = 100


@dataclass(slots=True)
class Report:
    """found: runs that can be stored. known: of them those that were imported before. stored: new ones. refused: places
    of the file of which no run can be made. notes: what was not taken at its word, with how many runs it concerns.
    """

    found: int = 0
    known: int = 0
    stored: int = 0
    refused: int = 0
    messages: int = 0
    sources: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    runs: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[dict[str, str]] = field(default_factory=list)

    def refuse(self, place: str, reason: str) -> None:
        self.refused += 1
        if len(self.refusals) < MOST_SHOWN:
            self.refusals.append({"place": place[:300], "reason": reason[:600]})

    def add(self, source: str, row: dict[str, Any], notes: tuple[str, ...]) -> None:
        self.found += 1
        self.sources[source] += 1
        self.messages += row["messages"]
        self.notes.update(notes)
        self.known += row["outcome"] == "known"
        self.stored += row["outcome"] == "stored"
        if len(self.runs) < MOST_SHOWN:
            self.runs.append(row)

    @property
    def source(self) -> str:
        """Whose file it is for the most part."""
        return max(self.sources, key=lambda name: self.sources[name], default="")

    def as_json(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("found", "known", "stored", "refused", "messages", "runs")},
            "refusals": self.refusals,
            "sources": dict(self.sources),
            "notes": [{"note": note, "runs": count} for note, count in self.notes.most_common()],
        }
