"""An arena run from its first event to its last, against the simulated provider."""

import pytest

from experiments.models import Call, Run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


def test_a_run_of_two_turns_completes_with_its_messages_judgments_and_events(arena, start, drive, provider):
    run = start(arena())

    drive()

    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (Run.State.COMPLETED, "max_turns")
    assert [(m.turn, m.seat) for m in run.messages.all()] == [(1, "A"), (1, "B"), (2, "A"), (2, "B")]
    assert [(j.turn, j.subject) for j in run.judgments.all()] == [(1, "A"), (1, "B"), (2, "A"), (2, "B")]
    assert all(j.scores for j in run.judgments.all())
    seqs = list(run.events.values_list("seq", flat=True))
    assert seqs == list(range(1, run.last_seq + 1))


def test_every_request_the_provider_saw_has_its_call_and_the_other_way_round(arena, start, drive, provider):
    run = start(arena())

    drive()

    asked = [row["request_id"] for row in provider.ledger()]
    assert sorted(asked) == sorted(str(pk) for pk in run.calls.values_list("pk", flat=True))
    assert set(run.calls.values_list("state", flat=True)) == {Call.State.COMPLETED}
