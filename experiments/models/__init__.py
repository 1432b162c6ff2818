from experiments.models.battles import Battle, Board, Campaign, PairCount, Verdict
from experiments.models.catalog import ModelPrice, Provider, ProviderModel
from experiments.models.coding import Cycle, Execution, SandboxHost
from experiments.models.dataset import Contestant, Dataset, DatasetImage, Image, Output, Sample
from experiments.models.event import Event
from experiments.models.experiment import Experiment, Participant
from experiments.models.export import Export
from experiments.models.findings import Ballot, Judgment
from experiments.models.idempotency import IdempotentRequest
from experiments.models.library import Preset, Scenario
from experiments.models.log_import import LogImport
from experiments.models.run import LIVE_STATES, TERMINAL_STATES, Run
from experiments.models.transcript import Message
from experiments.models.upload import Upload
from experiments.models.work import Call, Step

__all__ = [
    "LIVE_STATES",
    "TERMINAL_STATES",
    "Ballot",
    "Battle",
    "Board",
    "Call",
    "Campaign",
    "Contestant",
    "Cycle",
    "Dataset",
    "DatasetImage",
    "Event",
    "Execution",
    "Experiment",
    "Export",
    "IdempotentRequest",
    "Image",
    "Judgment",
    "LogImport",
    "Message",
    "ModelPrice",
    "Output",
    "PairCount",
    "Participant",
    "Preset",
    "Provider",
    "ProviderModel",
    "Run",
    "Sample",
    "SandboxHost",
    "Scenario",
    "Step",
    "Upload",
    "Verdict",
]
