"""What changes in the middle of a campaign: contestants, judges, prompts, runs that fail, buttons pressed twice."""

from collections import Counter

import pytest

from accounts.models import Membership, Project
from experiments import actions
from experiments.battles import campaigns, ledger
from experiments.battles.progress import progress
from experiments.casting import InvalidExperiment
from experiments.datasets import contestants
from experiments.engine import battle_findings
from experiments.models import Battle, Campaign, Contestant, Dataset, Experiment, ProviderModel
from experiments.refusals import NotAllowed, Rivalled
from experiments.workflows.battles.prompts import PROMPTS
from tests.experiments.campaigns.conftest import (
    DEAD,
    JUDGE,
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


def test_a_button_pressed_twice_starts_one_campaign(field, battles, campaign, alice, play):
    dataset = field(contestants=2, samples=3)
    first, second = campaign(battles(dataset)), battles(dataset)
    with pytest.raises(Rivalled, match="under way already"):
        campaigns.start(second, by=alice)

    assert not Campaign.objects.filter(experiment=second).exists()
    play(first)
    assert len(asked(first)) == 6
    assert campaigns.start(second, by=alice) == [], "it may be started once the other one is over"


def test_another_seed_of_the_same_thing_is_no_reason_to_fight_it_twice(field, battles, campaign, alice):
    dataset = field(contestants=3, samples=3)
    campaign(battles(dataset))
    with pytest.raises(Rivalled):
        campaigns.start(battles(dataset), by=alice, seed=5)

    campaign(battles(dataset, contestants=["ash", "birch"]))


def test_who_is_left_out_in_the_middle_fights_no_more_and_keeps_nobody_from_resuming(
    field, battles, campaign, play, alice, drive
):
    dataset = field(contestants=3, samples=12)
    experiment = campaign(battles(dataset, contestants=["ash", "birch", "cedar"]))
    ash = Contestant.objects.get(name="ash")
    contestants.void(ash, by=alice, reason="Copied.")
    begun = {task["sample"] for run in runs_of(experiment) for task in run.overrides["tasks"] if task["left"] == ash.pk}
    play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).filter(left=ash).count() < 2 * 12
    assert set(of(experiment).filter(left=ash).values_list("sample", flat=True)) == begun
    assert of(experiment).exclude(left=ash).count() == 12
    assert progress(experiment).share == 1
    assert not campaigns.resume(experiment, by=alice), "what the others have to do is done"

    contestants.restore(ash, by=alice)
    assert campaigns.resume(experiment, by=alice)
    play(experiment)
    assert of(experiment).count() == len(asked(experiment)) / 2 == 36


def test_one_who_is_left_out_cannot_be_chosen_anew(field, battles, alice):
    dataset = field(contestants=3, samples=2)
    contestants.void(Contestant.objects.get(name="ash"), by=alice, reason="Copied.")

    with pytest.raises(InvalidExperiment, match="left out"):
        battles(dataset, contestants=["ash", "birch"])


def test_what_runs_that_failed_had_cost_stays_in_the_account(field, battles, campaign, play, alice, settings):
    settings.BATTLES_PER_RUN, settings.RUNS_PER_CAMPAIGN = 50, 1
    experiment = campaign(battles(field(contestants=3, samples=12), judge=DEAD))
    play(experiment)
    assert state_of(experiment) == Campaign.State.FAILED
    before = ledger.spent(experiment.pk)
    assert before.calls == before.failed > 0

    serve(DEAD, RISEN)
    assert campaigns.resume(experiment, by=alice)
    assert ledger.spent(experiment.pk).calls == before.calls
    play(experiment)

    after = progress(experiment)
    assert (after.calls, after.failed_calls) == (before.calls + 2 * 36, before.calls)


def test_a_resumed_pass_asks_what_is_open_once(field, battles, campaign, play, alice, drive):
    """Stopped in the middle of an outage: what was not reached comes first, then what was open, and nothing twice."""
    experiment = campaign(battles(field(contestants=3, samples=8), judge=DEAD))
    with stopping_at_first_end(experiment):
        drive(0.3)
    tried = Counter(asked(experiment))
    assert state_of(experiment) == Campaign.State.STOPPED
    assert 0 < of(experiment).count() < 24

    assert campaigns.resume(experiment, by=alice)
    revived = {key for run in runs_of(experiment).live() for key in expected(run)}
    play(experiment)

    assert state_of(experiment) == Campaign.State.OPEN
    assert of(experiment).count() == 24
    again = Counter(asked(experiment)) - tried
    assert {key for key, times in again.items() if times > 1} <= revived
    assert set(tried) <= set(again) | revived


def expected(run):
    """What a run asks for."""
    places = ("{sample}-{left}-{right}".format(**task) for task in run.overrides["tasks"])
    return [f"battle/judge/{place}/{order}" for place in places for order in ("original", "swapped")]


def test_a_run_that_the_engine_fails_again_and_again_does_not_keep_the_others_from_going_on(
    field, battles, campaign, play, alice, monkeypatch
):
    experiment = campaign(battles(field(contestants=2, samples=12)))
    cursed = runs_of(experiment).order_by("created").first().pk
    written = battle_findings._written

    def sometimes(same, found):
        if found["run_id"] == cursed:
            raise RuntimeError("no row can be written")
        return written(same, found)

    monkeypatch.setattr(battle_findings, "_written", sometimes)
    play(experiment)
    for _again in range(2):
        assert state_of(experiment) == Campaign.State.FAILED
        assert "RuntimeError" in Campaign.objects.get(pk=experiment.pk).note
        assert campaigns.resume(experiment, by=alice)
        play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).exclude(winner="").count() == 12
    assert progress(experiment).calls == ledger.spent(experiment.pk).calls >= 24


def test_what_is_still_under_way_after_a_failure_can_be_stopped(field, battles, campaign, alice):
    experiment = campaign(battles(field(contestants=3, samples=8)))
    Campaign.objects.filter(pk=experiment.pk).update(state=Campaign.State.FAILED)

    assert runs_of(experiment).live().exists()
    assert campaigns.stop(experiment, by=alice)
    assert not runs_of(experiment).live().exists()
    assert state_of(experiment) == Campaign.State.FAILED
    assert not campaigns.stop(experiment, by=alice)


def test_a_prompt_that_was_changed_ends_the_campaign_and_says_so(field, battles, campaign, play, alice):
    experiment = campaign(battles(field(contestants=2, samples=3)))
    Experiment.objects.filter(pk=experiment.pk).update(
        config={**experiment.config, "prompt_version": "0123456789abcdef"}
    )
    experiment = Experiment.objects.get(pk=experiment.pk)
    play(experiment)

    assert state_of(experiment) == Campaign.State.FAILED
    assert PROMPTS["text_quality"].version in Campaign.objects.get(pk=experiment.pk).note
    assert not of(experiment).exists()
    with pytest.raises(InvalidExperiment, match="set the battles up again"):
        campaigns.resume(experiment, by=alice)


def test_a_judge_that_was_switched_off_is_named_when_the_campaign_is_resumed(field, battles, campaign, alice):
    experiment = campaign(battles(field(contestants=2, samples=3)))
    campaigns.stop(experiment, by=alice)
    ProviderModel.objects.filter(slug=JUDGE).update(is_active=False)

    with pytest.raises(NotAllowed, match="cannot be asked now"):
        campaigns.resume(experiment, by=alice)
    assert state_of(experiment) == Campaign.State.STOPPED


def test_a_dataset_that_is_gone_ends_the_campaign_and_no_other(field, battles, campaign, play):
    lost, other = (campaign(battles(field(contestants=2, samples=3, slug=slug))) for slug in ("lost", "other"))
    Campaign.objects.update(cursor={})
    runs_of(lost).delete()
    runs_of(other).delete()
    Dataset.objects.filter(slug="lost").delete()

    campaigns.feed_all()
    assert state_of(lost) == Campaign.State.FAILED
    assert "dataset is gone" in progress(lost).note
    play(other)
    assert state_of(other) == Campaign.State.COMPLETED


def test_a_void_open_battle_leaves_nothing_to_be_done(field, battles, campaign, play):
    experiment = campaign(battles(field(contestants=2, samples=3)))
    play(experiment)
    Battle.objects.filter(pk=of(experiment).first().pk).update(
        winner="", judged=None, open_reason="Refused.", void_reason="A picture of somebody.", voided="2026-01-01T00:00Z"
    )

    assert progress(experiment).open == 0
    assert not campaigns.resume(experiment, by=experiment.owner)
    assert state_of(experiment) == Campaign.State.COMPLETED


def test_nobody_waits_for_the_open_battles_of_who_was_left_out(field, battles, campaign, play, alice):
    experiment = campaign(battles(field(contestants=3, samples=2), judge=DEAD))
    play(experiment)
    assert progress(experiment).open == 6
    contestants.void(Contestant.objects.get(name="ash"), by=alice, reason="Copied.")
    assert progress(experiment).open == 2

    serve(DEAD, RISEN)
    assert campaigns.resume(experiment, by=alice)
    play(experiment)
    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).exclude(winner="").count() == 2


def test_outputs_that_did_not_come_are_open_until_they_do(field, alice, provider, play, quiet_doorbell):
    dataset = field(contestants=0, samples=4)
    cast = {"contestant-1": {"model": add_model(DEAD).slug}}
    config = {"dataset": dataset.slug, "contestants": ["Kind"]}
    experiment = actions.create(owner=alice, workflow="outputs", config=config, cast=cast)
    campaigns.start(experiment, by=alice)
    play(experiment)
    shown = progress(experiment)
    assert (state_of(experiment), shown.decided, shown.open) == (Campaign.State.OPEN, 0, 4)
    assert sum(count for _reason, count in shown.open_reasons) == 4

    ProviderModel.objects.filter(slug=DEAD).update(upstream="sim/cooperative:tps=0:first=0")
    assert campaigns.resume(experiment, by=alice)
    play(experiment)
    shown = progress(experiment)
    assert (state_of(experiment), shown.decided, shown.open, shown.open_reasons) == (Campaign.State.COMPLETED, 4, 0, ())


def test_a_contestant_that_joins_while_it_runs_is_asked_for_on_resume(field, battles, campaign, play, alice):
    dataset = field(contestants=2, samples=3)
    experiment = campaign(battles(dataset))
    join(dataset, "yew")
    play(experiment)
    assert of(experiment).count() == 3

    assert campaigns.resume(experiment, by=alice)
    play(experiment)
    assert of(experiment).count() == 9


def test_of_an_archived_project_what_is_under_way_ends_and_nothing_more_begins(field, battles, campaign, play, alice):
    experiment = battles(field(contestants=4, samples=6))
    project = Project.objects.create(name="Trees")
    Membership.objects.create(project=project, user=alice, role=Membership.Role.LEAD)
    Experiment.objects.filter(pk=experiment.pk).update(project=project)
    experiment.refresh_from_db()
    campaign(experiment)
    Project.objects.update(archived=True)
    play(experiment)

    assert (state_of(experiment), of(experiment).count()) == (Campaign.State.STOPPED, 18)
    assert "archived" in progress(experiment).note
    with pytest.raises(NotAllowed):
        campaigns.resume(Experiment.objects.get(pk=experiment.pk), by=alice)

    Project.objects.update(archived=False)
    assert campaigns.resume(Experiment.objects.get(pk=experiment.pk), by=alice)
    play(experiment)
    assert (state_of(experiment), of(experiment).count()) == (Campaign.State.COMPLETED, 36)
