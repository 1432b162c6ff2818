"""Contests that are really played: cycles reach the ladder as they are rated, also when one is left out meanwhile."""

import io
import json
import zipfile

import pytest
from django.db import connection

from experiments.models import Cycle
from experiments.workflows.coding.pages import files, ratings, voiding
from leaderboard.boards import coding, jobs
from leaderboard.models import Ladder
from leaderboard.ratings import cycles as pure
from tests.experiments.contesting import begun, models, ordered, quick, sandbox_as_played
from tests.experiments.contests import judgment
from tests.experiments.deliberating import fresh

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


@pytest.fixture
def bells(monkeypatch):
    """How often a worker was asked to compute ladders."""
    rung = []
    monkeypatch.setattr(jobs, "wake", lambda: rung.append(1))
    return rung


def other(number):
    """Another problem each time, or it would be refused as one that was set before."""
    words = ["Boats in a harbour", "Towers of a city", "Weights on a scale"][number]
    said = f"{words} {number}: given whole numbers, return the same numbers, the smallest first. " + words * 4
    return ordered(title=words, description=said)


def played(run, drive):
    with sandbox_as_played():
        drive()
    return fresh(run)


def test_a_rated_cycle_reaches_the_ladder_and_the_artifacts(alice, start, drive, scripted, bells):
    answers = [quick(judgment=judgment(score), problem=other(n)) for n, score in enumerate((8, 5, 6))]
    run = played(begun(alice, start, models(scripted, *answers), cycles=3), drive)
    assert (run.state, Cycle.objects.counted().count()) == ("completed", 3)
    assert len(bells) >= 3

    jobs.refresh_stale()

    found = ratings.of_run(run)
    assert Ladder.objects.get(slug="coding").standing.data["contest"]["cycles"] == 3
    assert coding.standings().contest.solvers == found.solvers
    archive = zipfile.ZipFile(io.BytesIO(b"".join(files.zipped(run))))
    assert sum("/raw/judge_" in name for name in archive.namelist()) == 18


@pytest.mark.system
def test_the_last_is_left_out_while_the_next_one_is_played(alice, start, drive, scripted, bells, curator):
    def rival(_body):
        """Between the first cycle and the second: its setter is being asked for a problem."""
        voiding.void_last(by=curator, reason="A slow sandbox.", named=voiding.last().pk)
        connection.close()
        return json.dumps(other(1))

    answers = [quick(problem=other(0), judgment=judgment(9)), quick(problem=rival), quick(problem=other(2))]
    run = played(begun(alice, start, models(scripted, *answers), cycles=3), drive)

    assert run.state == "completed"
    assert [(row.state, bool(row.voided)) for row in run.cycles.all()] == [("rated", turn == 1) for turn in (1, 2, 3)]
    found = ratings.of_run(run)
    second = Cycle.objects.filter(run=run, turn=2)
    assert [moment.turn for moment in found.history] == [2, 3]
    assert found.history[0].compatible == dict(pure.compatible_elo([ratings.read(second)[0].rated]).ratings)
    assert "cycle_voided" in run.events.values_list("type", flat=True)
    assert list(run.events.values_list("seq", flat=True)) == list(range(1, run.last_seq + 1))
