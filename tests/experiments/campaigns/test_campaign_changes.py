"""What changes in the middle of a campaign: contestants, judges, prompts, runs that fail, buttons pressed twice."""

from collections import Counter

import pytest

from accounts.models import Membership, Project
from experiments.battles import campaigns, ledger
from experiments.battles.progress import progress
from experiments.casting import InvalidExperiment
from experiments.datasets import contestants
from experiments.engine import battle_findings
from experiments.models import Campaign, Contestant, Dataset, Experiment, ProviderModel
from experiments.refusals import NotAllowed, Rivalled
from experiments.workflows.battles.prompts import PROMPTS
from tests.experiments.campaigns.conftest import (
    DEAD,
    JUDGE,
    asked,
    of,
    runs_of,
    state_of,
    stopping_at_first_end,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_runs")]


def test_a_button_pressed_twice_starts_one_campaign(field, battles, campaign, alice, play):
    dataset = field(contestants=3, samples=2)
    first, second = (
        campaign(battles(dataset, contestants=["ash", "birch"])),
        battles(dataset, contestants=["ash", "birch"]),
    )
    for more in ({}, {"seed": 5}):
        with pytest.raises(Rivalled, match="under way already"):
            campaigns.start(second, by=alice, **more)

    assert not Campaign.objects.filter(experiment=second).exists()
    campaign(battles(dataset, contestants=["birch", "cedar"]))
    play(first)
    assert len(asked(first)) == 4
    assert campaigns.start(second, by=alice) == [], "it may be started once the other one is over"


def test_who_is_left_out_in_the_middle_fights_no_more_and_keeps_nobody_from_resuming(
    field, battles, campaign, play, alice
):
    dataset = field(contestants=3, samples=8)
    experiment = campaign(battles(dataset, contestants=["ash", "birch", "cedar"]))
    ash = Contestant.objects.get(name="ash")
    contestants.void(ash, by=alice, reason="Copied.")
    begun = {task["sample"] for run in runs_of(experiment) for task in run.overrides["tasks"] if task["left"] == ash.pk}
    play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).filter(left=ash).count() < 2 * 8
    assert set(of(experiment).filter(left=ash).values_list("sample", flat=True)) == begun
    assert of(experiment).exclude(left=ash).count() == 8
    assert progress(experiment).share == 1
    assert not campaigns.resume(experiment, by=alice), "what the others have to do is done"

    contestants.restore(ash, by=alice)
    assert campaigns.resume(experiment, by=alice)
    play(experiment)
    assert of(experiment).count() == len(asked(experiment)) / 2 == 24


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
    assert state_of(experiment) == Campaign.State.FAILED
    assert "RuntimeError" in Campaign.objects.get(pk=experiment.pk).note
    for _again in range(2):
        campaigns.resume(experiment, by=alice)
        play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).exclude(winner="").count() == 12
    assert progress(experiment).calls == ledger.spent(experiment.pk).calls >= 24


def test_a_prompt_that_was_changed_and_a_judge_that_was_switched_off_are_named(field, battles, campaign, play, alice):
    changed, judged = (campaign(battles(field(contestants=2, samples=2, slug=slug))) for slug in ("changed", "judged"))
    config = {**changed.config, "prompt_version": "0123456789abcdef"}
    Experiment.objects.filter(pk=changed.pk).update(config=config)
    campaigns.stop(judged, by=alice)
    play(changed)

    assert state_of(changed) == Campaign.State.FAILED
    assert PROMPTS["text_quality"].version in Campaign.objects.get(pk=changed.pk).note
    assert not of(changed).exists()
    with pytest.raises(InvalidExperiment, match="set the battles up again"):
        campaigns.resume(Experiment.objects.get(pk=changed.pk), by=alice)
    ProviderModel.objects.filter(slug=JUDGE).update(is_active=False)
    with pytest.raises(NotAllowed, match="cannot be asked now"):
        campaigns.resume(judged, by=alice)
    assert state_of(judged) == Campaign.State.STOPPED


def test_what_is_still_under_way_after_a_failure_can_be_stopped(field, battles, campaign, alice):
    experiment = campaign(battles(field(contestants=3, samples=8)))
    Campaign.objects.filter(pk=experiment.pk).update(state=Campaign.State.FAILED)

    assert runs_of(experiment).live().exists()
    assert campaigns.stop(experiment, by=alice)
    assert not runs_of(experiment).live().exists()
    assert state_of(experiment) == Campaign.State.FAILED
    assert not campaigns.stop(experiment, by=alice)


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


def test_of_an_archived_project_what_is_under_way_ends_and_nothing_more_begins(field, battles, campaign, play, alice):
    experiment = battles(field(contestants=3, samples=8))
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
    assert (state_of(experiment), of(experiment).count()) == (Campaign.State.COMPLETED, 24)
