"""What the benchmark with killed workers counts: a study that was played once has no difference, others are found."""

import json

import pytest

from benchmarks import study_kills
from experiments.models import Call, StudyRun
from experiments.studies import services
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db


def test_a_study_that_was_played_once_has_no_difference_and_what_was_repeated_or_lost_is_found(
    provider, alice, drive, tmp_path, capsys
):
    add_model(study_kills.MODEL)
    design = study_kills._design(study_kills.CONDITIONS)
    study = services.create(owner=alice, title="Kills", design=design, plan=study_kills._plan(), at_once=100)
    services.lock(study, by=alice)
    services.start(study, by=alice)
    drive()
    keys = map(str, Call.objects.values_list("pk", flat=True))
    rows = [{"request_id": key, "outcome": "finished", "tokens_sent": 4} for key in keys]

    def looked_at(*more):
        path = tmp_path / "ledger.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in [*rows, *more]))
        return study_kills.look(path), capsys.readouterr().out

    found, said = looked_at()
    assert found == 0
    assert "20 runs, 20 completed, 2 answers in each\n40 calls: 40 completed" in said

    found, said = looked_at(rows[0])
    assert (found, "calls requested twice: 1" in said) == (1, True)

    Call.objects.filter(pk=rows[1]["request_id"]).update(state=Call.State.LOST)
    planned = StudyRun.objects.first()
    StudyRun.objects.filter(pk=planned.pk).update(run=None)
    found, said = looked_at()
    assert found == 1
    for what in ("planned runs without one run of their own", "runs that are not planned"):
        assert f"{what}: 1" in said
    assert "runs with more or fewer answers: 1" in said
