"""A contest that failed goes on where something can be tried again, and leaves alone what was rated."""

import pytest

from experiments import actions
from experiments.models import Run, Step
from tests.experiments.contest_rows import Contest
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def failed(alice, quiet_doorbell):
    """A contest of one rated cycle that has ended for some reason."""

    def make(reason):
        contest = Contest(alice)
        contest.cycle()
        Run.objects.filter(pk=contest.run.pk).update(state="failed", stop_reason=reason, error="It could not go on.")
        return Run.objects.get(pk=contest.run.pk)

    return make


def test_with_too_few_models_there_is_nothing_to_resume(failed, alice):
    run = failed("pool_too_small")

    assert not actions.resume(run, by=alice)
    assert Run.objects.get(pk=run.pk).state == "failed"
    assert "resume-form" not in signed_in(alice).get(run.get_absolute_url()).content.decode()


def test_where_the_sandbox_failed_only_the_last_cycle_is_executed_again(failed, alice):
    run = failed("sandbox_unavailable")
    of_first = Step.objects.create(run=run, key="x/1", kind="execute", purpose="execution", turn=1, state="failed")
    of_last = Step.objects.create(run=run, key="x/2", kind="execute", purpose="execution", turn=2, state="failed")

    assert actions.resume(run, by=alice)

    of_first.refresh_from_db()
    of_last.refresh_from_db()
    assert (of_first.state, of_last.state) == ("failed", "open")


def test_after_a_fault_of_ours_nobodys_answer_is_asked_for_again(failed, alice):
    run = failed("internal_error")
    silent = Step.objects.create(
        run=run, key="cycle/2/solution/coder-1", kind="ask", purpose="solution", turn=2, state="failed"
    )

    assert actions.resume(run, by=alice)

    silent.refresh_from_db()
    assert silent.state == "failed"
