"""A campaign fights every battle once, over many runs, and says how far it is."""

import pytest

from experiments import actions
from experiments.battles import campaigns, counting, planning, voiding
from experiments.battles.progress import progress
from experiments.models import Battle, Board, Campaign, Run
from experiments.refusals import Rivalled
from tests.experiments.campaigns.conftest import (
    DEAD,
    RISEN,
    asked,
    join,
    of,
    runs_of,
    serve,
    state_of,
    stopping_at_first_end,
)
from tests.fixtures import add_model

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases, pytest.mark.usefixtures("small_runs")]


def test_every_pair_is_compared_on_every_sample_once(field, battles, campaign, play):
    experiment = campaign(battles(field(contestants=4, samples=6)))
    play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).exclude(winner="").count() == of(experiment).count() == 36
    assert runs_of(experiment).count() > 3
    assert all(run.state == Run.State.COMPLETED for run in runs_of(experiment))
    [board] = Board.objects.all()
    assert counting.recount(board) == board.changes == 36
    assert planning.missing(experiment, 10) == []
    shown = progress(experiment)
    assert (shown.wanted, shown.decided, shown.open, shown.under_way) == (36, 36, 0, 0)
    assert (shown.calls, shown.failed_calls, shown.eta_seconds, shown.note) == (72, 0, None, "")
    assert all(verdict.call for battle in of(experiment) for verdict in battle.verdicts.all())


def test_a_second_experiment_with_the_same_judge_finds_nothing_missing(field, battles, campaign, play):
    dataset = field(contestants=2, samples=3)
    play(campaign(battles(dataset)))
    again = battles(dataset)

    assert actions.start(again, by=again.owner) == []
    assert state_of(again) == Campaign.State.COMPLETED
    assert progress(again).note == "Nothing was missing."
    assert not of(again).exists()


def test_another_judge_is_another_board_and_is_asked_by_itself(field, battles, campaign, play):
    dataset = field(contestants=2, samples=3)
    play(campaign(battles(dataset)))
    both = campaign(battles(dataset, **{"judge-2": "sim/judge:tps=0:first=0.001"}))
    play(both)

    assert state_of(both) == Campaign.State.COMPLETED
    assert Board.objects.count() == 2
    assert of(both).count() == 3
    assert {key.split("/")[1] for key in asked(both)} == {"judge-2"}


def test_a_stopped_campaign_begins_nothing_and_goes_on_where_it_was(field, battles, campaign, play, alice, drive):
    experiment = campaign(battles(field(contestants=3, samples=8)))
    with stopping_at_first_end(experiment):
        drive(0.3)
    recorded = set(asked(experiment))
    decided = of(experiment).exclude(winner="").count()
    assert state_of(experiment) == Campaign.State.STOPPED
    assert 0 < decided < 24
    assert not runs_of(experiment).live().exists()

    assert campaigns.resume(experiment, by=alice)
    play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert progress(experiment).note == ""
    assert of(experiment).exclude(winner="").count() == 24
    assert len(asked(experiment)) == len(set(asked(experiment))) == 48
    assert recorded <= set(asked(experiment))


def test_during_an_outage_everything_stays_open_and_is_asked_again_on_resume(field, battles, campaign, play, alice):
    experiment = campaign(battles(field(contestants=3, samples=6), judge=DEAD))
    play(experiment)

    assert state_of(experiment) == Campaign.State.OPEN
    assert of(experiment).count() == of(experiment).filter(winner="", is_consistent=None).count() == 18
    assert all(battle.open_reason for battle in of(experiment))
    shown = progress(experiment)
    assert (shown.decided, shown.open, shown.consistent_share) == (0, 18, None)
    assert sum(count for _reason, count in shown.open_reasons) == 18

    serve(DEAD, RISEN)
    battle = of(experiment).first()
    Battle.objects.filter(pk=battle.pk).update(winner="tie", is_consistent=True, judged=battle.created, open_reason="")
    failed = len(asked(experiment))
    assert campaigns.resume(experiment, by=alice)
    play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert len(asked(experiment)) - failed == 2 * 17
    assert Battle.objects.get(pk=battle.pk).winner == "tie"


def test_a_judge_that_only_fails_fails_the_campaign_which_goes_on_once_it_answers(
    field, battles, campaign, play, alice, settings
):
    settings.BATTLES_PER_RUN, settings.RUNS_PER_CAMPAIGN = 50, 1
    experiment = campaign(battles(field(contestants=3, samples=12), judge=DEAD))
    play(experiment)

    assert state_of(experiment) == Campaign.State.FAILED
    assert "resume" in Campaign.objects.get(pk=experiment.pk).note
    serve(DEAD, RISEN)
    assert campaigns.resume(experiment, by=alice)
    play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).exclude(winner="").count() == 36


def test_a_contestant_that_joins_later_fights_only_its_own_battles(field, battles, campaign, play, alice):
    dataset = field(contestants=3, samples=4)
    experiment = campaign(battles(dataset))
    play(experiment)
    before = set(asked(experiment))
    late = join(dataset, "yew")

    assert campaigns.resume(experiment, by=alice)
    play(experiment)

    new = set(asked(experiment)) - before
    assert len(new) == 2 * 3 * 4
    assert all(f"-{late.pk}/" in key for key in new)
    assert progress(experiment).wanted == 12 + 12
    assert progress(experiment).note == ""
    assert not campaigns.resume(experiment, by=alice), "nothing is missing any more"
    assert progress(experiment).note == "Nothing was missing."


def test_a_void_battle_is_not_fought_again(field, battles, campaign, play, alice):
    experiment = campaign(battles(field(contestants=2, samples=3)))
    play(experiment)
    voiding.void(of(experiment).first(), by=alice, reason="A picture of somebody.")

    assert planning.missing(experiment, 5) == []
    assert counting.recount(Board.objects.get()) == 2


def test_a_campaign_is_started_once(field, battles, campaign, alice):
    experiment = campaign(battles(field(contestants=2, samples=3)))

    with pytest.raises(Rivalled):
        actions.start(experiment, by=alice)


def test_limits_hold_over_all_runs_of_a_campaign(field, battles, campaign, play, alice):
    experiment = campaign(battles(field(contestants=3, samples=8), side_by_side=1, limits={"tokens": 4000}))
    play(experiment)

    shown = progress(experiment)
    assert state_of(experiment) == Campaign.State.STOPPED
    assert "4000 tokens" in shown.note
    assert 0 < shown.input_tokens + shown.output_tokens <= 4000
    assert 0 < shown.decided < 24
    assert campaigns.resume(experiment, by=alice, limits={})
    play(experiment)
    assert state_of(experiment) == Campaign.State.COMPLETED
    assert len(asked(experiment)) == len(set(asked(experiment))) == 48


def test_what_nobody_fed_the_sweep_feeds(field, battles, campaign, drive, play, monkeypatch):
    experiment = campaign(battles(field(contestants=3, samples=8)))
    with monkeypatch.context() as patch:
        patch.setattr("experiments.battles.campaigns.feed", lambda experiment_id: [])
        drive(0.3)
    assert not runs_of(experiment).live().exists()
    assert state_of(experiment) == Campaign.State.RUNNING

    campaigns.feed_all()
    play(experiment)

    assert of(experiment).exclude(winner="").count() == 24


def test_models_may_be_asked_for_their_outputs(field, alice, provider, play, quiet_doorbell):
    dataset = field(contestants=0, samples=5)
    cast = {f"contestant-{n}": {"model": add_model(f"sim/{name}:tps=0:first=0").slug} for n, name in
            enumerate(("cooperative", "competitive"), 1)}  # fmt: skip
    config = {"dataset": dataset.slug, "contestants": ["Kind", "Keen"]}
    experiment = actions.create(owner=alice, workflow="outputs", config=config, cast=cast)
    actions.start(experiment, by=alice)
    play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert {one.name: one.outputs.exclude(text="").count() for one in dataset.contestants.all()} == {
        "Kind": 5,
        "Keen": 5,
    }
    assert progress(experiment).decided == 10
