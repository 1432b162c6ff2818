"""What an import did: how many lines were read, what became of them, and what is to be known about it."""

from collections import Counter
from dataclasses import asdict, dataclass, field

MOST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that was not taken over, and why. file is empty where there is only one."""

    file: str
    line: int
    reason: str


@dataclass(slots=True)
class Report:
    """read: lines. stored: battles that are new. completed: battles that were known, of which the log told more.
    known: told before this import. confirmed: lines of a slim log that its audit log had told. duplicates: battles
    told again within this import, counted once. opened: battles of the log that nobody decided. void: battles that the
    log marks as void, left out. tallies: what warnings are made of at the end.
    """

    read: int = 0
    stored: int = 0
    completed: int = 0
    known: int = 0
    confirmed: int = 0
    duplicates: int = 0
    opened: int = 0
    void: int = 0
    contestants: int = 0
    samples: int = 0
    outputs: int = 0
    refused: int = 0
    refusals: list[Refused] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    boards: list[str] = field(default_factory=list)
    snapshots: list[dict[str, object]] = field(default_factory=list)
    tallies: Counter[str] = field(default_factory=Counter)

    @property
    def taken(self) -> int:
        """Lines whose battles are stored now, or were before."""
        return self.stored + self.completed + self.known + self.confirmed + self.duplicates

    def refuse(self, file: str, line: int, reason: str) -> None:
        self.refused += 1
        if len(self.refusals) < MOST_SHOWN:
            self.refusals.append(Refused(file[-300:], line, reason[:300]))

    def warn(self, sentence: str) -> None:
        if sentence not in self.warnings and len(self.warnings) < MOST_SHOWN:
            self.warnings.append(sentence)

    def as_json(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if name != "tallies"}
