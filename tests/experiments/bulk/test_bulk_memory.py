"""A file of many runs takes no more memory than one of few: what is written is not kept."""

import gc
import tracemalloc

import pytest

from experiments.bulk import making
from experiments.bulk.formats import FORMATS
from experiments.models import Run
from tests.experiments.reports.records import Record

pytestmark = [pytest.mark.django_db, pytest.mark.exhaustive, pytest.mark.system]

RUNS = 5
TEXT = "The wind is fair. " * 10_000


@pytest.fixture
def runs(alice):
    for _n in range(RUNS):
        record = Record(alice)
        record.turn(1)
        record.reply("A", 1, TEXT)
        record.completed(1)
    return [str(pk) for pk in Run.objects.values_list("pk", flat=True)]


@pytest.mark.parametrize("format_", FORMATS)
def test_of_a_run_that_is_written_nothing_is_held(runs, format_, tmp_path, alice):
    held = []

    def watched():
        for run in making._fetched(runs, alice, lambda done: None):
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
            yield run

    path = tmp_path / "whole"
    tracemalloc.start()
    try:
        FORMATS[format_].write(watched(), path, tmp_path / "parts", lambda parts: {"parts": parts})
    finally:
        tracemalloc.stop()

    assert len(held) == RUNS
    assert path.stat().st_size
    assert held[-1] - held[1] < len(TEXT), "less than one run's text, after three more"
