"""Earlier arenas' defects under load and failure (ratings.md §1.10), against real verbs and a real provider."""

from datetime import timedelta

import httpx
import pytest

from experiments import actions
from experiments.battles import campaigns
from experiments.battles.progress import progress
from experiments.casting import InvalidExperiment
from experiments.models import Battle, Call, Campaign, ModelPrice, PairCount, ProviderModel, Sample
from tests.experiments.battles.leagues import JUDGE, battles, join, league
from tests.fixtures import add_model, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def play(provider, drive):
    def run(experiment):
        actions.start(experiment, by=experiment.owner)
        _drive_to_the_end(experiment, drive)
        return experiment

    return run


def again(experiment, drive):
    campaigns.resume(experiment, by=experiment.owner)
    _drive_to_the_end(experiment, drive)


def _drive_to_the_end(experiment, drive):
    """A driver that finds nothing to do for a moment goes; on a busy machine the next one finds the rest."""

    def is_over():
        drive()
        return not Campaign.objects.filter(pk=experiment.pk, state=Campaign.State.RUNNING).exists()

    wait_until(is_over, "the campaign to end")


def test_an_outage_leaves_battles_open_and_they_are_asked_again_after_it(play, drive, alice):
    experiment = play(battles(league(alice), judge="sim/judge:tps=0:first=0:fail=401"))
    rows = Battle.objects.filter(experiment=experiment)

    assert (rows.count(), rows.decided().count(), PairCount.objects.count()) == (9, 0, 0)
    assert all(rows.values_list("open_reason", flat=True))
    assert progress(experiment).state == Campaign.State.OPEN

    ProviderModel.objects.filter(slug__contains="fail=401").update(upstream="sim/judge:first=0:tps=0")
    again(experiment, drive)

    assert (rows.count(), rows.decided().count(), progress(experiment).open) == (9, 9, 0)
    assert progress(experiment).state == Campaign.State.COMPLETED


def test_an_endpoint_that_asks_for_patience_is_waited_for_and_no_battle_suffers(play, alice):
    slow_down = "sim/judge:tps=0:first=0:fail=429:times=1:retry_after=1"

    experiment = play(battles(league(alice, samples=1), judge=slow_down))

    rows = Battle.objects.filter(experiment=experiment)
    assert (rows.decided().count(), rows.filter(winner="").count()) == (3, 0)
    refused = Call.objects.filter(run__experiment=experiment, state=Call.State.FAILED)
    assert refused.count() == 6
    assert set(refused.values_list("error_kind", flat=True)) == {"rate_limited"}
    for call in refused:  # each was asked again, of the same endpoint, and not before the second that it had said
        next_one = Call.objects.get(step=call.step, attempt=call.attempt + 1)
        assert next_one.model_id == call.model_id
        assert next_one.sent - call.sent >= timedelta(seconds=0.95)


def test_the_fewest_battles_per_pair_are_kept(play, alice):
    sampling = {"plan": "adaptive", "target_width": 1000, "min_per_pair": 3, "max_per_pair": 6, "batch": 1}

    experiment = play(battles(league(alice, samples=6), sampling=sampling))

    counted = PairCount.objects.values_list("left_wins", "right_wins", "ties")
    assert len(counted) == 3
    assert min(map(sum, counted)) >= 3
    assert progress(experiment).decided == sum(map(sum, counted))


def test_a_plan_of_some_samples_draws_the_same_ones_every_time(play, alice):
    dataset = league(alice, samples=6)
    plan = {"plan": "sample", "per_pair": 2}

    found = []
    for _time in range(3):
        play(battles(dataset, sampling=plan))
        found.append(sorted(Battle.objects.values_list("left", "right", "sample")))

    assert [len(rows) for rows in found] == [6, 6, 6]
    assert Call.objects.count() == 12
    assert len(set(Battle.objects.values_list("sample", flat=True))) == 2


def test_no_samples_are_no_order_to_play_them_all(play, alice):
    with pytest.raises(InvalidExperiment):
        battles(league(alice), sampling={"plan": "sample", "per_pair": 0})

    assert (Battle.objects.count(), Call.objects.count()) == (0, 0)


def test_one_sample_that_cannot_be_shown_ends_neither_the_others_nor_never(play, alice):
    dataset = league(alice, samples=3)
    Sample.objects.filter(dataset=dataset, index=1).update(images=["0" * 64])  # a picture that is nowhere
    add_model("sim/vision-judge:tps=0:first=0", capabilities={"images": True})
    sampling = {"plan": "adaptive", "target_width": 1, "min_per_pair": 1, "max_per_pair": 3, "batch": 1}

    experiment = play(battles(dataset, judge="sim/vision-judge:tps=0:first=0", sampling=sampling))

    found = progress(experiment)
    assert (found.state, found.decided, found.open) == (Campaign.State.OPEN, 6, 3)
    assert set(Battle.objects.filter(winner="").values_list("sample__index", flat=True)) == {1}
    assert found.open_reasons


def test_an_adaptive_plan_stays_adaptive_when_its_work_is_shared_out(play, alice, settings):
    settings.BATTLES_PER_RUN, settings.RUNS_PER_CAMPAIGN = 2, 4
    sampling = {"plan": "adaptive", "target_width": 1000, "min_per_pair": 3, "max_per_pair": 20, "batch": 1}

    experiment = play(battles(league(alice, samples=20), sampling=sampling))

    assert experiment.runs.count() >= 4
    assert 9 <= progress(experiment).decided < 60


def test_a_newcomer_brings_its_own_outputs_and_nothing_old_is_judged_again(play, drive, alice):
    dataset = league(alice, samples=2)
    experiment = play(battles(dataset))
    before = dict(Battle.objects.values_list("pk", "judged"))

    join(dataset, "none")
    again(experiment, drive)

    assert (len(before), Battle.objects.decided().count()) == (6, 12)
    assert dict(Battle.objects.filter(pk__in=before).values_list("pk", "judged")) == before
    assert Call.objects.filter(run__experiment=experiment).count() == 24


def test_one_pool_of_connections_serves_all_calls_and_retries_are_ours_alone(play, alice, monkeypatch):
    made = []

    class Counted(httpx.AsyncClient):
        def __init__(self, *args, **kwargs):
            made.append(1)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(httpx, "AsyncClient", Counted)

    experiment = play(battles(league(alice, samples=4)))

    calls = Call.objects.filter(run__experiment=experiment)
    assert (calls.count(), set(calls.values_list("attempt", flat=True))) == (24, {1})
    assert len(made) <= 2


def test_what_a_campaign_costs_is_counted_call_by_call(play, alice):
    experiment = battles(league(alice, samples=1))
    judge = ProviderModel.objects.get(slug=JUDGE)
    ModelPrice.objects.create(model=judge, since="2026-01-01T00:00:00Z", input="0.000001", output="0.000002")

    play(experiment)

    calls = Call.objects.filter(run__experiment=experiment)
    assert calls.count() == 6
    assert all(call.input_tokens and call.output_tokens and call.cost is not None for call in calls)
    assert progress(experiment).cost == sum(call.cost for call in calls)


def test_another_judge_is_another_board_and_each_battle_tells_by_whom_and_by_which_prompt(play, alice):
    dataset = league(alice, samples=1)
    play(battles(dataset, more=("sim/judge:tps=0:first=0:bias=0.9",)))
    play(battles(dataset, prompt="text_instruction"))

    boards = list(dataset.boards.order_by("id"))
    assert len(boards) == 3
    assert len({(board.judge, board.prompt, board.prompt_version) for board in boards}) == 3
    assert all(board.prompt_version and board.judge for board in boards)
    assert [board.battles.count() for board in boards] == [3, 3, 3]
