"""What was computed is kept as a whole, by workers, and never replaced by something older."""

from datetime import timedelta
from unittest import mock

import django_rq
import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.utils import timezone
from redis import ConnectionPool
from redis.exceptions import ConnectionError as RedisConnectionError

from experiments.models import Battle, Campaign, Experiment, PairCount, Run
from experiments.models.signals import run_finished, swept
from experiments.tasks import clock
from experiments.workflows.battles.campaign import voiding
from leaderboard.boards import compute, jobs
from leaderboard.models import Ladder, Standing
from leaderboard.ratings import NotConverged
from tests.leaderboard import boards
from tests.making import maker

MORE = [("model-001", "model-002", "left")] * 5


def fresh(ladder):
    return Ladder.objects.select_related("standing", "board__dataset").get(pk=ladder.pk)


@pytest.mark.databases
def test_an_older_computation_never_replaces_a_newer_one(league, alice, monkeypatch):
    ladder = league(contestants=3, battles=60)
    slow = compute.standings

    def overtaken(asked):
        found = slow(asked)
        monkeypatch.setattr(compute, "standings", slow)
        boards.board_of(alice, MORE, ladder.board)
        assert compute.refresh(fresh(ladder))
        return found

    monkeypatch.setattr(compute, "standings", overtaken)

    assert not compute.refresh(ladder)
    assert Standing.objects.get().data["battles"] == 65


@pytest.mark.databases
def test_a_worker_computes_what_has_changed_or_was_kept_by_an_earlier_version_once(league, alice):
    ladder = league(contestants=3, battles=60)
    Ladder.objects.all().delete()  # a board that has none gets one

    assert jobs.refresh_stale() == 1
    assert jobs.refresh_stale() == 0
    boards.board_of(alice, MORE, ladder.board)
    assert jobs.refresh_stale() == 0, "it rests between two computations"
    Standing.objects.update(computed=timezone.now() - timedelta(seconds=60))
    assert jobs.refresh_stale() == 1
    assert Standing.objects.get().ladder.workflow == "battles"
    assert not jobs.is_anything_stale()
    Standing.objects.update(data={**Standing.objects.get().data, "shape": 1}, computed=clock.ago(timedelta(hours=1)))
    assert jobs.is_anything_stale()
    assert jobs.refresh_stale() == 1


@pytest.mark.system
def test_many_battles_wake_once_by_the_sweep_and_at_the_end_of_a_campaign(transactional_db, league, campaign, alice):
    queue = django_rq.get_queue(jobs.QUEUE)
    queue.empty()
    ladder = league(contestants=3, battles=60)
    for battle in Battle.objects.select_related("board__dataset")[:5]:
        voiding.void(battle, by=alice, reason="A test.")

    assert queue.count == 1
    assert compute.current(fresh(ladder)).standings.battles == 55
    run = Run.objects.create(experiment=campaign(ladder).experiment, seed=1)
    for ring in (lambda: swept.send(None), lambda: run_finished.send(Run, run_id=run.pk)):
        queue.empty()
        ring()
        assert queue.count == 1


def test_without_redis_battles_count_and_pages_are_shown(client, transactional_db, league, alice, monkeypatch):
    ladder = league(contestants=3, battles=60)
    compute.refresh(ladder)

    def away(*_arguments, **_options):
        raise RedisConnectionError

    monkeypatch.setattr(ConnectionPool, "get_connection", away)
    monkeypatch.setattr(compute, "INLINE_SECONDS", 60)  # however busy the machine is
    voiding.void(Battle.objects.select_related("board__dataset").first(), by=alice, reason="A test.")

    assert "<dd>59</dd>" in client.get(ladder.get_absolute_url()).content.decode()


def test_the_history_notes_changes_now_and_then_and_is_bounded(league, alice, monkeypatch):
    ladder = league(contestants=3, battles=60)

    def moments():
        return ladder.points.values("at").distinct().count()

    compute.refresh(ladder)
    boards.board_of(alice, MORE, ladder.board)
    compute.refresh(fresh(ladder))
    assert moments() == 1, "not more often than every ten minutes"

    ladder.points.update(at=timezone.now() - timedelta(minutes=11))
    compute.refresh(fresh(ladder))
    assert moments() == 2
    assert set(ladder.points.values_list("battles", flat=True)) == {40, 45}

    monkeypatch.setattr(compute, "MOST_MOMENTS", 4)
    for number in range(9):
        Standing.objects.all().delete()
        ladder.points.update(battles=number, at=F("at") - timedelta(minutes=11))
        compute.refresh(fresh(ladder))
    assert moments() <= 4


@maker
def campaign(alice, /, ladder, **config):
    """A campaign of Alice's that has ended now, with one of the ladder's battles."""
    config |= {"dataset": ladder.board.dataset.slug}
    experiment = Experiment.objects.create(owner=alice, workflow="battles", title="Alice's own", config=config)
    Battle.objects.filter(pk=ladder.board.battles.first().pk).update(experiment=experiment)
    return Campaign.objects.create(experiment=experiment, state="completed", ended=timezone.now())


def test_the_end_of_a_campaign_is_noted_without_its_title_also_after_its_last_battles(league, campaign):
    ladder, later = (league(contestants=3, battles=60) for _ in "ab")
    compute.refresh(ladder)
    campaign(ladder, version="spring_20260401")
    ended = campaign(later).ended
    compute.refresh(fresh(later))

    for _bell in range(2):
        assert jobs.refresh_stale() == 0
        jobs.note_ends()

    assert set(ladder.points.values_list("occasion", flat=True)) == {"", "spring_20260401"}
    assert ladder.points.values("at").distinct().count() == 2
    assert set(later.points.values_list("occasion", flat=True)) == {f"{ended:%Y-%m-%d}"}


@pytest.mark.databases
def test_rerating_finds_and_mends_a_count_that_was_tampered_with(league):
    ladder = league(contestants=3, battles=60)
    call_command("rerate", "--check")
    PairCount.objects.filter(pk=PairCount.objects.first().pk).update(left_wins=999)

    with pytest.raises(CommandError, match="1 counts"):
        call_command("rerate", "--check")
    assert PairCount.objects.filter(left_wins=999).exists(), "checking changes nothing"
    call_command("rerate")
    call_command("rerate", "--check")

    assert fresh(ladder).standing.data["battles"] == 60
    Standing.objects.all().delete()
    other = league(contestants=3, battles=30)
    call_command("rerate", other.slug)
    assert Standing.objects.get().ladder == other, "the named ones alone"
    with pytest.raises(CommandError, match="nothing"):
        call_command("rerate", "nothing")


def test_a_ladder_that_cannot_be_computed_keeps_its_last_standing_and_no_other_waiting(league, alice, monkeypatch):
    broken, sound = league(contestants=3, battles=30), league(contestants=3, battles=30)
    compute.refresh(broken)
    before = dict(broken.standing.data)
    boards.board_of(alice, MORE, broken.board)
    Standing.objects.update(computed=timezone.now() - timedelta(seconds=60))
    compute_one = compute.standings

    def fail(ladder):
        if ladder.pk == broken.pk:
            raise NotConverged
        return compute_one(ladder)

    with monkeypatch.context() as patch:
        patch.setattr(compute, "standings", fail)
        assert jobs.refresh_stale() == 1
    assert Standing.objects.exclude(ladder=broken).get().ladder == sound
    monkeypatch.setattr(compute, "note_history", mock.Mock(side_effect=RuntimeError("the machine stops here")))
    with pytest.raises(RuntimeError):
        compute.refresh(fresh(broken))
    broken.standing.refresh_from_db()
    assert broken.standing.data == before


def test_the_kept_standing_is_shown_until_a_change_or_while_computing(league, alice, django_assert_num_queries):
    ladder = league(contestants=3, battles=60)
    compute.refresh(ladder)
    ladder = fresh(ladder)

    with django_assert_num_queries(0):
        current = compute.current(ladder)

    assert current.standings.battles == 60
    assert not compute.is_stale(ladder)
    Standing.objects.update(seconds=compute.INLINE_SECONDS + 1)
    boards.board_of(alice, MORE, ladder.board)
    current = compute.current(fresh(ladder))
    assert (current.standings.battles, current.behind) == (60, 1)
