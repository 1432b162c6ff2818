"""What people change while the engine is at work takes hold, at whatever moment they do it."""

import pytest
from django.db import OperationalError

from experiments import actions
from experiments.engine import pauses
from experiments.engine.playing import Playing
from experiments.models import Run
from experiments.steering import steering
from experiments.workflows.arena.config import UNLIMITED_SECONDS
from tests.experiments.deliberating import FAST

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


def fresh(run):
    return Run.objects.get(pk=run.pk)


def test_a_run_made_automatic_in_the_moment_in_which_it_comes_to_a_pause_does_not_wait(
    arena, start, drive, alice, monkeypatch
):
    run = start(arena(mode="manual", max_turns=1))
    opened = pauses.open_pause

    def after_somebody_else(book, pause):
        steering.set_mode(run, by=alice, mode="automatic")
        return opened(book, pause)

    monkeypatch.setattr(pauses, "open_pause", after_somebody_else)
    drive()

    assert (fresh(run).state, fresh(run).messages.count(), fresh(run).open_pauses) == ("completed", 2, [])


def test_an_endless_run_made_automatic_gets_an_hour_from_then_on(arena, start, drive, alice):
    run = start(arena(mode="manual", max_turns=None))
    drive()
    played = 5000.0
    Run.objects.filter(pk=run.pk).update(started=fresh(run).waiting_since - steering.timezone.timedelta(seconds=played))
    assert fresh(run).config["limits"]["seconds"] is None

    steering.set_mode(fresh(run), by=alice, mode="automatic")

    limit = fresh(run).config["limits"]["seconds"]
    assert limit == pytest.approx(played + UNLIMITED_SECONDS, abs=5)
    assert run.events.filter(type="experiment_state", data__limits__seconds=limit).exists()


def test_an_automatic_run_without_a_last_turn_any_more_gets_an_hour_and_keeps_its_other_limits(arena, start, alice):
    run = start(arena(max_turns=3, limits={"tokens": 5000}))

    steering.extend(run, by=alice, max_turns=None)

    assert fresh(run).config["limits"] == {"tokens": 5000, "seconds": UNLIMITED_SECONDS, "cost": None}


def test_a_limit_of_time_that_somebody_has_set_stays(arena, start, alice):
    run = start(arena(mode="manual", max_turns=3, limits={"seconds": 90000}))

    steering.extend(run, by=alice, max_turns=None)
    steering.set_mode(run, by=alice, mode="automatic")

    assert fresh(run).config["limits"]["seconds"] == 90000


def test_a_run_ends_that_is_stopped_while_the_database_refuses_what_belongs_to_a_call(
    arena, start, drive, alice, monkeypatch
):
    run = start(arena(a="sim/cooperative:first=0:tps=40"))
    noted = []

    def refused(_playing, _key):
        noted.append(1)
        if len(noted) == 1:
            actions.stop(run, by=alice)
            raise OperationalError("The database is not there.")

    monkeypatch.setattr(Playing, "_note_key", refused)
    drive()

    assert (fresh(run).state, fresh(run).stop_reason) == ("stopped", "manual_stop")
    assert not run.calls.filter(state="sent").exists()


def test_a_prompt_that_nobody_rewrote_is_not_told_as_rewritten(arena, start, drive, alice):
    """What would be asked changes when the run gets more turns; what was shown is what is sent."""
    run = start(arena(mode="manual", max_turns=1))
    drive()
    steering.extend(run, by=alice, max_turns=2)
    for _side in "AB":
        [pause] = fresh(run).open_pauses
        steering.say(run, by=alice, key=pause.key, action="default")
        drive()

    asked = run.calls.get(step__key="turn/1/judge").request["messages"]
    assert "rewrote" not in str(asked)


def test_a_council_gets_more_questions_and_no_limit_of_time(council, start, drive, alice):
    run = start(council(*FAST, max_turns=1))

    steering.extend(run, by=alice, max_turns=3)

    assert fresh(run).overrides == {"max_turns": 3}
