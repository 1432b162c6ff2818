from experiments.models.batches import Batch, BatchedCall, InBatches, in_batches
from experiments.models.battles import Battle, Board, Campaign, PairCount, Verdict
from experiments.models.budget import BilledDay, Budget, BudgetPeriod, Reservation, UsageDay
from experiments.models.callers import Caller, HandedCall
from experiments.models.cases import InstrumentCase
from experiments.models.catalog import InjectionRate, ModelPrice, Provider, ProviderModel
from experiments.models.client import ClientTalk, IdempotentRequest
from experiments.models.coding import Cycle, Execution, SandboxHost
from experiments.models.dataset import Contestant, Dataset, DatasetImage, Image, Output, Sample
from experiments.models.experiment import Experiment, Participant, ShareLink
from experiments.models.export import BulkExport, Export
from experiments.models.imports import ImportedRun, LogImport, RunImport, Upload
from experiments.models.instruments import Annotation, Instrument, InstrumentVersion
from experiments.models.keys import KeyUse, ProviderKey
from experiments.models.library import Favorite, Note, Preset, RunListColumns, SavedView, Scenario, Tag, Tagging
from experiments.models.passage import Passage
from experiments.models.review import FlagDeed, QueueMember, ReviewQueue, ReviewRubric, RunReview
from experiments.models.reviewed import (
    ReviewAnswer,
    ReviewComment,
    ReviewCorrection,
    ReviewDraft,
    ReviewItem,
    ReviewSkip,
    ReviewSlot,
)
from experiments.models.run import LIVE_STATES, TERMINAL_STATES, Run
from experiments.models.seats import SeatedPerson
from experiments.models.studies import Study, StudyCondition, StudyLook, StudyPlan, StudyRun
from experiments.models.webhook import Webhook, WebhookDelivery
from experiments.models.work import CALLS_UNDER_WAY, Ballot, Call, Event, Judgment, Message, Step

__all__ = [
    "CALLS_UNDER_WAY",
    "LIVE_STATES",
    "TERMINAL_STATES",
    "Annotation",
    "Ballot",
    "Batch",
    "BatchedCall",
    "Battle",
    "BilledDay",
    "Board",
    "Budget",
    "BudgetPeriod",
    "BulkExport",
    "Call",
    "Caller",
    "Campaign",
    "ClientTalk",
    "Contestant",
    "Cycle",
    "Dataset",
    "DatasetImage",
    "Event",
    "Execution",
    "Experiment",
    "Export",
    "Favorite",
    "FlagDeed",
    "HandedCall",
    "IdempotentRequest",
    "Image",
    "ImportedRun",
    "InBatches",
    "InjectionRate",
    "Instrument",
    "InstrumentCase",
    "InstrumentVersion",
    "Judgment",
    "KeyUse",
    "LogImport",
    "Message",
    "ModelPrice",
    "Note",
    "Output",
    "PairCount",
    "Participant",
    "Passage",
    "Preset",
    "Provider",
    "ProviderKey",
    "ProviderModel",
    "QueueMember",
    "Reservation",
    "ReviewAnswer",
    "ReviewComment",
    "ReviewCorrection",
    "ReviewDraft",
    "ReviewItem",
    "ReviewQueue",
    "ReviewRubric",
    "ReviewSkip",
    "ReviewSlot",
    "Run",
    "RunImport",
    "RunListColumns",
    "RunReview",
    "Sample",
    "SandboxHost",
    "SavedView",
    "Scenario",
    "SeatedPerson",
    "ShareLink",
    "Step",
    "Study",
    "StudyCondition",
    "StudyLook",
    "StudyPlan",
    "StudyRun",
    "Tag",
    "Tagging",
    "Upload",
    "UsageDay",
    "Verdict",
    "Webhook",
    "WebhookDelivery",
    "in_batches",
]
