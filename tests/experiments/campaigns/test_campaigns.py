"""A campaign fights every battle once, over many runs, and says how far it is."""

import pytest

from experiments import actions
from experiments.battles import campaigns, counting, ledger, planning, voiding
from experiments.battles.progress import progress
from experiments.datasets import contestants
from experiments.models import Battle, Board, Call, Campaign, Contestant, ModelPrice, Run
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

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_runs")]


@pytest.mark.databases
def test_every_pair_is_compared_on_every_sample_once(field, battles, campaign, play):
    experiment = battles(field(contestants=4, samples=4))
    judge = experiment.participants.get().model
    ModelPrice.objects.create(model=judge, since="2026-01-01T00:00:00Z", input="0.000001", output="0.000002")
    play(campaign(experiment))

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).exclude(winner="").count() == of(experiment).count() == 24
    assert runs_of(experiment).count() > 3
    assert all(run.state == Run.State.COMPLETED for run in runs_of(experiment))
    [board] = Board.objects.all()
    assert counting.recount(board) == board.changes == 24
    assert planning.missing(experiment, 10) == []
    shown = progress(experiment)
    assert (shown.wanted, shown.decided, shown.open, shown.under_way) == (24, 24, 0, 0)
    assert (shown.calls, shown.failed_calls, shown.eta_seconds, shown.note) == (48, 0, None, "")
    assert shown.cost == sum(call.cost for call in Call.objects.filter(run__experiment=experiment)) > 0
    assert all(verdict.call for battle in of(experiment) for verdict in battle.verdicts.all())


def test_what_has_been_fought_or_made_void_is_not_fought_again(field, battles, campaign, play, alice):
    dataset = field(contestants=2, samples=3)
    experiment = campaign(battles(dataset))
    with pytest.raises(Rivalled):
        actions.start(experiment, by=alice)
    play(experiment)
    voiding.void(of(experiment).first(), by=alice, reason="A picture of somebody.")
    again = battles(dataset)

    assert planning.missing(experiment, 5) == []
    assert counting.recount(Board.objects.get()) == 2
    assert actions.start(again, by=alice) == []
    assert (state_of(again), of(again).exists()) == (Campaign.State.COMPLETED, False)
    Battle.objects.filter(void_reason="").update(
        winner="", judged=None, open_reason="Refused.", void_reason="Another.", voided="2026-01-01T00:00Z"
    )
    assert progress(experiment).open == 0
    assert not campaigns.resume(experiment, by=alice)


def test_another_judge_or_prompt_is_another_board_and_is_asked_by_itself(field, battles, campaign, play):
    dataset = field(contestants=2, samples=2)
    play(campaign(battles(dataset)))
    both = campaign(battles(dataset, **{"judge-2": "sim/judge:tps=0:first=0.001"}))
    play(both)
    play(campaign(battles(dataset, prompt="text_instruction")))

    boards = Board.objects.order_by("pk")
    assert len({(board.judge, board.prompt, board.prompt_version) for board in boards}) == 3
    assert [board.battles.count() for board in boards] == [2, 2, 2]
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


@pytest.mark.databases
def test_during_an_outage_everything_stays_open_and_is_asked_again_on_resume(field, battles, campaign, play, alice):
    experiment = campaign(battles(field(contestants=3, samples=4), judge=DEAD))
    play(experiment)

    assert state_of(experiment) == Campaign.State.OPEN
    assert of(experiment).count() == of(experiment).filter(winner="", is_consistent=None).count() == 12
    assert all(battle.open_reason for battle in of(experiment))
    shown = progress(experiment)
    assert (shown.decided, shown.open, shown.consistent_share) == (0, 12, None)
    assert sum(count for _reason, count in shown.open_reasons) == 12

    serve(DEAD, RISEN)
    contestants.void(Contestant.objects.get(name="ash"), by=alice, reason="Copied.")
    assert progress(experiment).open == 4, "nobody waits for the battles of who was left out"
    battle = of(experiment).exclude(left__name="ash").first()
    Battle.objects.filter(pk=battle.pk).update(winner="tie", is_consistent=True, judged=battle.created, open_reason="")
    failed = len(asked(experiment))
    assert campaigns.resume(experiment, by=alice)
    play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert len(asked(experiment)) - failed == 2 * 3
    assert Battle.objects.get(pk=battle.pk).winner == "tie"


def test_a_judge_that_only_fails_fails_the_campaign_which_goes_on_once_it_answers(
    field, battles, campaign, play, alice, settings
):
    settings.BATTLES_PER_RUN, settings.RUNS_PER_CAMPAIGN = 50, 1
    experiment = campaign(battles(field(contestants=3, samples=8), judge=DEAD))
    play(experiment)
    assert state_of(experiment) == Campaign.State.FAILED
    assert "resume" in Campaign.objects.get(pk=experiment.pk).note
    before = ledger.spent(experiment.pk)
    assert before.calls == before.failed > 0

    serve(DEAD, RISEN)
    assert campaigns.resume(experiment, by=alice)
    assert ledger.spent(experiment.pk).calls == before.calls
    play(experiment)

    after = progress(experiment)
    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).exclude(winner="").count() == 24
    assert (after.calls, after.failed_calls) == (before.calls + 2 * 24, before.calls)


def test_a_contestant_that_joins_later_fights_only_its_own_battles(field, battles, campaign, play, alice):
    dataset = field(contestants=3, samples=3)
    experiment = campaign(battles(dataset))
    late = join(dataset, "yew")
    play(experiment)
    before = set(asked(experiment))
    assert of(experiment).count() == 9, "who joins while it runs is asked for on resume"

    assert campaigns.resume(experiment, by=alice)
    play(experiment)

    new = set(asked(experiment)) - before
    assert len(new) == 2 * 3 * 3
    assert all(f"-{late.pk}/" in key for key in new)
    assert progress(experiment).wanted == 9 + 9
    assert not campaigns.resume(experiment, by=alice), "nothing is missing any more"


@pytest.mark.databases
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

    assert runs_of(experiment).live().exists()


def test_models_are_asked_for_their_outputs_until_they_come(field, alice, provider, play, quiet_doorbell):
    dataset = field(contestants=0, samples=4)
    models = {"contestant-1": DEAD, "contestant-2": "sim/cooperative:tps=0:first=0"}
    cast = {seat: {"model": add_model(model).slug} for seat, model in models.items()}
    config = {"dataset": dataset.slug, "contestants": ["Kind", "Keen"]}
    experiment = actions.create(owner=alice, workflow="outputs", config=config, cast=cast)
    actions.start(experiment, by=alice)
    play(experiment)
    shown = progress(experiment)
    assert (state_of(experiment), shown.decided, shown.open) == (Campaign.State.OPEN, 4, 4)
    assert sum(count for _reason, count in shown.open_reasons) == 4

    serve(DEAD, "sim/competitive:tps=0:first=0")
    assert campaigns.resume(experiment, by=alice)
    play(experiment)

    shown = progress(experiment)
    assert (state_of(experiment), shown.decided, shown.open, shown.open_reasons) == (Campaign.State.COMPLETED, 8, 0, ())
    written = {one.name: one.outputs.exclude(text="").count() for one in dataset.contestants.all()}
    assert written == {"Kind": 4, "Keen": 4}
