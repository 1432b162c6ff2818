"""The public log of a board: which contestants were withdrawn, taken in again, renamed or described anew in the
register, when, why and by whom.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.models import AuditEntry
from experiments.models import Board, Contestant

MOST = 200
DONE = {
    AuditEntry.Action.VOIDED: "withdrawn",
    AuditEntry.Action.RESTORED: "reinstated",
    AuditEntry.Action.RENAMED: "renamed",
    AuditEntry.Action.CONTESTANT_CHANGED: "registered",
}


@dataclass(frozen=True, slots=True)
class Correction:
    """what: "withdrawn", "reinstated", "renamed" or "registered". reason: of a withdrawal, else empty. before: what it
    was shown as until it was renamed. changed: which fields of the register. by: empty for readers who are not signed
    in.
    """

    at: datetime
    what: str
    name: str
    label: str
    reason: str
    by: str
    before: str = ""
    changed: tuple[str, ...] = ()

    @property
    def changed_words(self) -> str:
        words = {one.name: one.verbose_name for one in Contestant._meta.fields}
        return ", ".join(str(words[name]) for name in self.changed)


def corrections(board: Board, reader: Any) -> list[Correction]:
    """Newest first, as the audit log has them."""
    contestants = {f"contestant:{one.pk}": one for one in Contestant.objects.filter(dataset=board.dataset_id)}
    entries = AuditEntry.objects.filter(action__in=list(DONE), target__in=list(contestants)).order_by("-pk")
    return [
        Correction(
            at=entry.at,
            what=DONE[AuditEntry.Action(entry.action)],
            name=contestants[entry.target].name,
            label=str(contestants[entry.target]),
            reason=str(entry.detail.get("reason", "")),
            by=entry.actor if reader.is_authenticated else "",
            before=str(entry.detail.get("before", "")),
            changed=tuple(entry.detail.get("changed", ())),
        )
        for entry in entries[:MOST]
    ]
