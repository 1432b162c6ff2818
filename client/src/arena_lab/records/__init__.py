"""What the API gives, as values."""

from arena_lab.records.base import Record
from arena_lab.records.battles import (
    Battle,
    Campaign,
    Dataset,
    Ladder,
    LadderEntry,
    Milestone,
    Point,
    Progress,
    PublishedRating,
    Standing,
    Verdict,
)
from arena_lab.records.instruments import (
    Annotation,
    CorrectedRate,
    Instrument,
    InstrumentCard,
    InstrumentVersion,
    Queue,
    Rate,
    ScanRates,
)
from arena_lab.records.lab import Budget, Model, Part, Spent, UsageReport
from arena_lab.records.runs import Experiment, Participant, Pause, Run, Totals
from arena_lab.records.transcript import Ballot, Call, Execution, Filtered, Judgment, Message, Usage

__all__ = [
    "Annotation",
    "Ballot",
    "Battle",
    "Budget",
    "Call",
    "Campaign",
    "CorrectedRate",
    "Dataset",
    "Execution",
    "Experiment",
    "Filtered",
    "Instrument",
    "InstrumentCard",
    "InstrumentVersion",
    "Judgment",
    "Ladder",
    "LadderEntry",
    "Message",
    "Milestone",
    "Model",
    "Part",
    "Participant",
    "Pause",
    "Point",
    "Progress",
    "PublishedRating",
    "Queue",
    "Rate",
    "Record",
    "Run",
    "ScanRates",
    "Spent",
    "Standing",
    "Totals",
    "Usage",
    "UsageReport",
    "Verdict",
]
