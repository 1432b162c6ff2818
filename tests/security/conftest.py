"""A lab in which everything that somebody may write is hostile."""

import threading
from pathlib import Path
from typing import Any

import pytest

from experiments.engine.driver import Driver
from experiments.models import Run
from tests.experiments.conftest import files_of_their_own, played, translations
from tests.experiments.rights.people import Lab, lab_of
from tests.experiments.rights.things import Things

__all__ = ["files_of_their_own", "played", "translations"]


@pytest.fixture
def things(
    provider: Any,
    alice: Any,
    played: Any,
    starchamber: Any,
    start: Any,
    tmp_path: Path,
    settings: Any,
    quiet_doorbell: Any,
) -> tuple[Lab, Things]:
    """One of everything, and the people around it."""
    settings.IMAGES_DIR, settings.SIGNUP = tmp_path, "invite"
    lab = lab_of(alice)
    talk: Run = start(starchamber("sim/cooperative:first=0:words=5"))
    Driver(threading.Event()).drive(0.1)
    return lab, Things(lab, played(max_turns=1), talk, tmp_path)
