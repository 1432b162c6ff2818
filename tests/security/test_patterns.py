"""No pattern takes long for any text: 100,000 characters made to be hard for it, each in a tenth of a second."""

import re
import resource
import subprocess
import sys

import pytest
from django.conf import settings

from tests.fixtures import environment
from tests.security import patterns

CPU_SECONDS = 180


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


def test_hundreds_are_found():
    assert len(patterns.patterns()) > 120


@pytest.mark.parametrize("bad", [r"(a+)+$", r"(\w+\s?)+:", r"^(a|aa)+$", r"\s+$", r"\w+@", r"<title>.*</title"])
def test_a_bad_one_would_be_noticed(bad):
    seconds, _text = patterns.slowest(re.compile(bad))

    assert seconds > patterns.SECONDS
