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
from arena_lab.records.instruments import Annotation, Instrument, InstrumentVersion
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
    "Dataset",
    "Execution",
    "Experiment",
    "Filtered",
    "Instrument",
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
    "Record",
    "Run",
    "Spent",
    "Standing",
    "Totals",
    "Usage",
    "UsageReport",
    "Verdict",
]
