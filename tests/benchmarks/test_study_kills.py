"""What the benchmark with killed workers counts: a study that was played once has no difference, others are found."""

import json

import pytest

from benchmarks import study_kills
from experiments.models import Call, StudyRun
from experiments.studies import services
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db


@pytest.fixture
def ledger(provider, alice, drive, tmp_path):
    add_model(study_kills.MODEL)
    study = services.create(
        owner=alice,
        title="Kills",
        design=study_kills._design(study_kills.CONDITIONS),
        plan=study_kills._plan(),
        at_once=100,
    )
    services.lock(study, by=alice)
    services.start(study, by=alice)
    drive()
    rows = [
        {"request_id": str(call), "outcome": "finished", "tokens_sent": 4}
        for call in Call.objects.values_list("pk", flat=True)
    ]

    def write(*more):
        path = tmp_path / "ledger.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in [*rows, *more]))
        return path, rows

    return write


def test_a_study_that_was_played_once_has_no_difference(ledger, capsys):
    assert study_kills.look(ledger()[0]) == 0
    assert "20 runs, 20 completed, 2 answers in each\n40 calls: 40 completed" in capsys.readouterr().out


def test_a_request_made_twice_a_lost_answer_and_a_run_without_its_own_are_found(ledger, capsys):
    path, rows = ledger()
    ledger(rows[0])
    assert study_kills.look(path) == 1
    assert "calls requested twice: 1" in capsys.readouterr().out

    Call.objects.filter(pk=rows[1]["request_id"]).update(state=Call.State.LOST)
    planned = StudyRun.objects.first()
    StudyRun.objects.filter(pk=planned.pk).update(run=None)
    assert study_kills.look(ledger()[0]) == 1
    said = capsys.readouterr().out
    assert "planned runs without one run of their own: 1" in said
    assert "runs that are not planned: 1" in said
    assert "runs with more or fewer answers: 1" in said
