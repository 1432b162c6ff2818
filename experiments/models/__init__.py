from experiments.models.battles import Battle, Board, Campaign, PairCount, Verdict
from experiments.models.budget import Budget, BudgetPeriod, Reservation
from experiments.models.bulk_export import BulkExport
from experiments.models.catalog import ModelPrice, Provider, ProviderModel
from experiments.models.client import ClientTalk
from experiments.models.coding import Cycle, Execution, SandboxHost
from experiments.models.curation import FlagDeed, RunReview
from experiments.models.dataset import Contestant, Dataset, DatasetImage, Image, Output, Sample
from experiments.models.event import Event
from experiments.models.experiment import Experiment, Participant
from experiments.models.export import Export
from experiments.models.findings import Ballot, Judgment
from experiments.models.idempotency import IdempotentRequest
from experiments.models.injection import InjectionRate
from experiments.models.keys import KeyUse, ProviderKey
from experiments.models.library import Preset, Scenario
from experiments.models.log_import import LogImport
from experiments.models.passage import Passage
from experiments.models.review import QueueMember, ReviewQueue, ReviewRubric
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
from experiments.models.run_import import ImportedRun, RunImport
from experiments.models.sharing import ShareLink
from experiments.models.shelves import Note, SavedView, Tag, Tagging
from experiments.models.transcript import Message
from experiments.models.upload import Upload
from experiments.models.usage import UsageDay
from experiments.models.webhook import Webhook, WebhookDelivery
from experiments.models.work import Call, Step

__all__ = [
    "LIVE_STATES",
    "TERMINAL_STATES",
    "Ballot",
    "Battle",
    "Board",
    "Budget",
    "BudgetPeriod",
    "BulkExport",
    "Call",
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
    "FlagDeed",
    "IdempotentRequest",
    "Image",
    "ImportedRun",
    "InjectionRate",
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
    "RunReview",
    "Sample",
    "SandboxHost",
    "SavedView",
    "Scenario",
    "ShareLink",
    "Step",
    "Tag",
    "Tagging",
    "Upload",
    "UsageDay",
    "Verdict",
    "Webhook",
    "WebhookDelivery",
]
