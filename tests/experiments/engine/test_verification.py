"""A record that was damaged outside the platform is noticed and named, and no other run is."""

import json
import random
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from experiments.engine import verification
from experiments.models import Call, Event, Message, Run

pytestmark = pytest.mark.databases


@pytest.fixture
def runs(played, settings, tmp_path):
    """Three that are whole."""
    settings.DATA_DIR = tmp_path
    return [played(max_turns=2), *(played(max_turns=1, judge=False, filter=False) for _run in range(2))]


def changed_text(run, dice):
    call = dice.choice(run.calls.exclude(text=""))
    at = dice.randrange(len(call.text))
    text = f"{call.text[:at]}{chr(ord(call.text[at]) ^ 1)}{call.text[at + 1 :]}"
    Call.objects.filter(pk=call.pk).update(text=text)


def changed_column(run, dice):
    name, value = dice.choice(
        [("cost", 3), ("output_tokens", 1), ("state", "failed"), ("request", {}), ("attempt", 9), ("served_model", "x")]
    )
    Call.objects.filter(pk=dice.choice(run.calls.all()).pk).update(**{name: value})


def changed_event(run, dice):
    event = dice.choice(run.events.all())
    data = json.loads(json.dumps(event.data).replace("a", "b", 1)) if dice.random() < 0.5 else {**event.data, "x": 1}
    Event.objects.filter(pk=event.pk).update(**dice.choice([{"data": data}, {"type": "said"}, {"at": run.created}]))


def dropped_event(run, dice):
    dice.choice(run.events.all()).delete()


def cut_off_events(run, dice):
    run.events.filter(seq__gt=dice.randrange(run.last_seq)).delete()


def dropped_call(run, dice):
    Message.objects.filter(run=run).update(call=None)
    run.judgments.update(call=None)
    Call.objects.filter(pk=dice.choice(run.calls.all()).pk).delete()


def event_of_another_run(run, dice):
    ours = dice.choice(run.events.all())
    others = dice.choice(Event.objects.exclude(run=run))
    Event.objects.filter(pk=ours.pk).update(data=others.data, type=others.type, at=others.at, digest=others.digest)


def an_older_copy(run, dice):
    """All that was recorded of the run since some moment is not there, and what is there agrees with itself."""
    seq = dice.randrange(1, run.last_seq)
    run.events.filter(seq__gt=seq).delete()
    Call.objects.filter(run=run).update(digest="")
    Run.objects.filter(pk=run.pk).update(last_seq=seq, settled_calls=0, state=Run.State.RUNNING)


CHANGES = [changed_text, changed_column, changed_event, event_of_another_run]
HARMS = [*CHANGES, dropped_event, cut_off_events, dropped_call, an_older_copy]


def damaged():
    behind = verification.older_than_noted()
    return {*behind, *dict(verification.verify(Run.objects.exclude(pk__in=behind)))}


def test_equal_values_have_one_digest_and_others_another():
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    alike = [(noon, noon.astimezone(timezone(timedelta(hours=8)))), (Decimal("1.50"), Decimal("1.5"))]
    others = [noon + timedelta(seconds=1), Decimal("1.51"), None, "None"]
    digests = [{verification.digests._digest(value) for value in values} for values in [*alike, *zip(others)]]
    assert [len(same) for same in digests] == [1] * 6
    assert len(set.union(*digests)) == 6


def test_what_is_changed_dropped_or_put_back_is_noticed_until_it_is_accepted_and_no_healthy_run_is_blamed(runs):
    verification.note_heads()
    assert not damaged()
    seen = []
    for seed in range(60):
        dice = random.Random(seed)
        run, harm = dice.choice(runs), dice.choice(HARMS)
        with transaction.atomic():
            harm(run, dice)
            seen.append((harm.__name__, seed, damaged() == {run.pk}))
            transaction.set_rollback(True)

    assert [one for one in seen if not one[2]] == []
    assert not damaged()

    an_older_copy(runs[0], random.Random(1))
    assert verification.older_than_noted().keys() == {runs[0].pk}
    Run.objects.filter(pk=runs[0].pk).update(state=Run.State.STOPPED)
    call_command("verify", "--accept-older")
    assert Run.objects.get(pk=runs[0].pk).damage == ""
    assert verification.noted_heads() == {}


def test_damaged_runs_are_named_and_not_driven_until_they_are_whole_again(
    settings, tmp_path, capsys, start, arena, browser
):
    settings.DATA_DIR = tmp_path
    start(arena())
    waiting = start(arena())
    first = waiting.events.get(seq=1)
    Event.objects.filter(pk=first.pk).update(type="said")

    with pytest.raises(CommandError, match="1 faults"):
        call_command("verify")
    assert f"Run {waiting.pk}: Event 1 was changed" in capsys.readouterr().out
    assert not Run.objects.claimable().filter(pk=waiting.pk).exists()
    assert "Event 1 was changed" in browser.get(waiting.get_absolute_url()).content.decode()
    assert browser.get(f"/api/runs/{waiting.pk}/report/?format=json").json()["run"]["damage"] == "event_changed 1"

    Event.objects.filter(pk=first.pk).update(type=first.type)
    call_command("verify", str(waiting.pk))
    assert Run.objects.claimable().filter(pk=waiting.pk).exists()
