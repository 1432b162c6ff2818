"""One of everything, and the people around it."""

import threading
from pathlib import Path
from typing import Any

import pytest

from experiments.engine.driver import Driver
from tests.experiments.rights.people import Lab, lab_of
from tests.experiments.rights.things import Things


@pytest.fixture
def things(
    provider: Any, alice: Any, played: Any, starchamber: Any, start: Any, tmp_path: Path, settings: Any
) -> tuple[Lab, Things]:
    settings.IMAGES_DIR, settings.SIGNUP = tmp_path, "invite"
    lab = lab_of(alice)
    talk = start(starchamber("sim/cooperative:first=0:words=5"))
    Driver(threading.Event()).drive(0.1)
    return lab, Things(lab, played(max_turns=1), talk, tmp_path)
