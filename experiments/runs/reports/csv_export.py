"""A run as a table: one row per message, with what was found about it. Made for spreadsheets and data frames."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from accounts.csv_cells import BOM, csv_line
from experiments.models import Annotation, Ballot, Judgment, Message, Run
from experiments.runs.reports.document import each
from experiments.workflows import surface_of
from experiments.workflows.base.judge import RANGES
from experiments.workflows.base.measuring import instrument_of
from experiments.workflows.council.rows import ballots

SCORES = tuple(f"score_{name}" for name in RANGES)
USAGE = ("input_tokens", "output_tokens", "reasoning_tokens", "cost")
MESSAGE = ("id", "turn", "seat", "model", "text", "raw_text", "reasoning", "finish_reason", "superseded", "created")
BALLOT = ("count", "labels", "order", "abstained_reason", "flags", "reading", "superseded")
COLUMNS = (
    *("run", "id", "turn", "seat", "purpose", "model", "text", "raw_text", "reasoning", "finish_reason", "flags"),
    *("filter_status", "filter_changed", "filter_removed", "filter_confidence", "filter_reasoning"),
    *USAGE,
    *("judge", *SCORES, "judge_confidence", "judge_saw_messages", "judge_saw_reasoning"),
    *("unscored_reason", "rationale"),
    *("parsed", *(f"ballot_{name}" for name in BALLOT)),
    *("superseded", "operator_kind", "operator_by", "operator_original", "call", "created"),
)
OF_UNIT = ("measured_unit", "measured_by", "measured_confidence", "measured_notes")
MEASURED = ("", "_unscored_reason", "_quotes", "_is_verified")  # of each dimension
Cells = dict[str, object]
Places = dict[tuple[int, str], list[Judgment]]  # by turn and seat


def table(run: Run) -> Iterator[bytes]:
    """The rows as CSV (RFC 4180). A cell is empty where something is missing; a missing score is never a zero.

    Judgments without a message of their seat and turn, as when a transcript is judged again, have rows of their own;
    so have ballots of reviewers who could not be asked, and what an instrument found of more than one message. Its
    dimensions are the last columns, of runs that are judged by it. Where nobody says anything (battles, outputs,
    contests), the workflow has a table of its own.
    """
    if own := surface_of(run.experiment.workflow).told.table:
        for number, row in enumerate(own(run)):
            yield (BOM if number == 0 else b"") + csv_line(row)
        return
    measured = Measured(run)
    columns = (*COLUMNS, *measured.columns)

    def ordered(cells: Cells) -> bytes:
        return csv_line([cells.get(name) for name in columns])

    yield BOM + csv_line(columns)
    judgments: Places = {}
    for judgment in run.judgments.select_related("step").order_by("step_id"):
        judgments.setdefault((judgment.turn, judgment.subject), []).append(judgment)
    cast = {ballot.step.key.removesuffix("/ballot"): ballot for ballot in ballots(run).select_related("step")}
    for message in each(run.messages.select_related("call", "step")):
        found, ballot = _judgment_of(message, judgments), cast.pop(message.step.key, None)
        about = (_of_judgment(found) if found else {}) | (_of_ballot(ballot) if ballot else {})
        yield ordered(_of_message(message) | about | measured.taken(message))
    for ballot in cast.values():
        place = {"run": run.pk, "turn": ballot.turn, "seat": ballot.reviewer, "purpose": "review"}
        yield ordered(place | {"model": ballot.model} | _of_ballot(ballot))
    left = (found for those in judgments.values() for found in those)
    for found in sorted(left, key=lambda found: (found.turn, found.step_id, found.subject)):
        yield ordered({"run": run.pk, "turn": found.turn, "seat": found.subject} | _of_judgment(found))
    for cells in measured.left():
        yield ordered({"run": run.pk} | cells)


class Measured:
    """What the run's own judge found by its instrument: cells by unit and subject, each dimension with four columns."""

    def __init__(self, run: Run) -> None:
        rows = Annotation.objects.filter(run=run, made_in=run).order_by("step_id", "subject", "id")
        self._units: dict[tuple[Any, str], list[Annotation]] = {}
        for row in rows:
            self._units.setdefault((row.message_id or row.step_id, row.subject), []).append(row)
        instrument = instrument_of(run.experiment.parsed_config())
        names = [one.name for one in instrument.definition.dimensions] if instrument and self._units else []
        dimensions = tuple(f"measured_{name}{ending}" for name in names for ending in MEASURED)
        self.columns = (*OF_UNIT, *dimensions) if names else ()

    def taken(self, message: Message) -> Cells:
        """Of this very message, which is not left then."""
        found = self._units.pop((message.pk, message.seat), None) or self._units.pop((message.pk, ""), None)
        return self._cells(found) if found else {}

    def left(self) -> Iterator[Cells]:
        for found in self._units.values():
            yield {"turn": found[0].turn, "seat": found[0].subject} | self._cells(found)

    def _cells(self, found: Sequence[Annotation]) -> Cells:
        first = found[0]
        cells: Cells = dict(zip(OF_UNIT, (first.unit, first.judge, first.confidence, first.rationale), strict=True))
        for row in found:
            value = "; ".join(map(str, row.value)) if isinstance(row.value, list) else row.value
            quotes = "\n".join(str(one["quote"]) for one in row.citations)
            told = (value, row.unscored_reason, quotes, row.is_verified)
            cells |= {f"measured_{row.dimension}{ending}": said for ending, said in zip(MEASURED, told, strict=True)}
        return cells


def _judgment_of(message: Message, judgments: Places) -> Judgment | None:
    """The judgment of this very message, taken out: its own where each answer is judged, else its turn's last."""
    found = judgments.get((message.turn, message.seat), [])
    own = [one for one in found if one.step.key == f"{message.step.key}/judge/completed"]
    if not own and (message.superseded or not found):
        return None
    chosen = (own or found)[-1]
    found.remove(chosen)
    return chosen


def _of_message(message: Message) -> Cells:
    filter_, operator = message.filter or {}, message.operator or {}
    return {
        **{name: getattr(message, name) for name in MESSAGE},
        "run": message.run_id,
        "purpose": message.step.purpose,
        "parsed": None if message.parsed is None else json.dumps(message.parsed, ensure_ascii=False, sort_keys=True),
        "flags": "; ".join(message.flags),
        **{f"filter_{name}": filter_.get(name) for name in ("status", "changed", "confidence", "reasoning")},
        "filter_removed": "; ".join(filter_.get("removed", [])),
        **({name: getattr(message.call, name) for name in USAGE} if message.call else {}),
        **{f"operator_{name}": operator.get(name) for name in ("kind", "by", "original")},
        "call": message.call_id,
    }


def _of_judgment(found: Judgment) -> Cells:
    scores: Mapping[str, Any] = found.scores or {}
    return {
        "judge": found.judge,
        **{f"score_{name}": scores.get(name) for name in RANGES},
        "judge_confidence": found.confidence,
        "judge_saw_messages": found.saw.get("messages"),
        "judge_saw_reasoning": found.saw.get("reasoning"),
        "unscored_reason": found.unscored_reason,
        "rationale": found.rationale,
    }


def _of_ballot(ballot: Ballot) -> Cells:
    """order: seats, best first, `=` between equals; the cell is empty for an abstention."""
    order = ballot.order
    return {
        **{f"ballot_{name}": getattr(ballot, name) for name in BALLOT},
        "ballot_labels": "; ".join(f"{label} = {seat}" for label, seat in ballot.labels.items()),
        "ballot_order": None if order is None else " > ".join(" = ".join(group) for group in order),
        "ballot_flags": "; ".join(ballot.flags),
    }
