"""What is loaded at the start is left out of the collector's rounds."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.system


def test_what_is_loaded_is_not_looked_through_again_and_what_comes_later_is():
    program = (
        "import gc; from experiments.tasks.threads import spare_what_is_loaded;"
        "kept = [[number] for number in range(1000)]; spare_what_is_loaded();"
        "later = []; later.append(later); del later;"
        "print(gc.get_freeze_count() > 1000, gc.collect() > 0, len(gc.get_objects()) < 1000)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["True", "True", "True"]
