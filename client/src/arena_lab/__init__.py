"""A typed client for Arena Lab.

from arena_lab import Arena

arena = Arena()  # ARENA_URL and ARENA_TOKEN, or what `arena login` has stored
"""

from arena_lab.async_client import AsyncArena
from arena_lab.client import Arena
from arena_lab.errors import (
    ArenaError,
    BadAnswer,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    NothingOpen,
    NotSetUp,
    Problem,
    ServerFailed,
    SignInNeeded,
    TooMany,
    Unreachable,
)
from arena_lab.events import BallotRead, BattleJudged, Delta, Ended, Event, Judged, Said, Waiting
from arena_lab.files import File
from arena_lab.frames import to_dataframe
from arena_lab.retrying import Patience
from arena_lab.version import VERSION

__all__ = [
    "VERSION",
    "Arena",
    "ArenaError",
    "AsyncArena",
    "BadAnswer",
    "BallotRead",
    "BattleJudged",
    "Conflict",
    "Delta",
    "Ended",
    "Event",
    "File",
    "Forbidden",
    "Invalid",
    "Judged",
    "NotFound",
    "NotSetUp",
    "NothingOpen",
    "Patience",
    "Problem",
    "Said",
    "ServerFailed",
    "SignInNeeded",
    "TooMany",
    "Unreachable",
    "Waiting",
    "to_dataframe",
]
