"""No pattern takes long for any text: 100,000 characters made to be hard for it, each in a tenth of a second."""

import contextlib
import resource
import subprocess
import sys
import time
from itertools import product

import pytest
from django.conf import settings

from experiments.review.spans import sentences
from experiments.runs.reports.markdown import quoted
from experiments.workflows.base.ballots import read_ballot
from experiments.workflows.base.parsing import Unreadable
from tests.fixtures import environment
from tests.security import patterns

CPU_SECONDS = 180


@pytest.mark.system
def test_every_pattern_of_the_project_is_quick():
    """In a process of its own, whose time is the processor's: a busy machine changes nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.security.patterns"],
        cwd=settings.BASE_DIR,
        env=environment(),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS)),
    )

    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "", "too slow, with the text that shows it"


def test_hundreds_are_found_and_a_text_of_nothing_but_signs_holds_nothing_up():
    assert len(patterns.patterns()) > 120
    readers = lambda text: read_ballot(text, ["Response A", "Response B"]), sentences, quoted
    for read, text, filling in product(readers, ("FINAL RANKING: 1. Response A{}x", "{}x"), " \n…."):
        begun = time.process_time()
        with contextlib.suppress(Unreadable):
            read(text.format(filling * patterns.LENGTH))
        assert time.process_time() - begun < 1, (read, text, filling)
