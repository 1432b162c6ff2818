"""A campaign fights every battle once, over many runs, says how far it is, and goes on whatever changes meanwhile."""

import json
import threading

import pytest

from accounts.errors import Conflict, Forbidden, Invalid
from accounts.models import Membership, Project
from experiments.engine import reservations
from experiments.library.bulk import making
from experiments.library.bulk.formats import FORMATS
from experiments.library.datasets import contestants
from experiments.library.instruments import choosing, services
from experiments.library.instruments.builtin import builtin
from experiments.models import (
    Battle,
    Board,
    Call,
    Campaign,
    Contestant,
    Dataset,
    Experiment,
    ModelPrice,
    ProviderModel,
    Run,
)
from experiments.runs import actions
from experiments.workflows.battles import rows
from experiments.workflows.battles.campaign import campaigns, counting, voiding
from experiments.workflows.battles.campaign.progress import progress
from experiments.workflows.battles.prompts import PROMPTS
from tests.experiments.campaigns.conftest import DEAD, JUDGE, RISEN, asked, join, missing, of, runs_of, serve, state_of
from tests.fixtures import add_model

pytestmark = pytest.mark.usefixtures("small_runs")


@pytest.mark.databases
def test_every_pair_is_compared_on_every_sample_once(field, battles, campaign, play):
    experiment = battles(field(contestants=4, samples=2))
    judge = experiment.participants.get().model
    ModelPrice.objects.create(model=judge, since="2026-01-01T00:00:00Z", input="0.000001", output="0.000002")
    play(campaign(experiment))

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).exclude(winner="").count() == of(experiment).count() == 12
    assert runs_of(experiment).count() > 3
    assert all(run.state == Run.State.COMPLETED for run in runs_of(experiment))
    [board] = Board.objects.all()
    assert counting.recount(board) == board.changes == 12
    assert missing(experiment, 10) == []
    shown = progress(experiment)
    assert (shown.wanted, shown.decided, shown.open, shown.under_way) == (12, 12, 0, 0)
    assert (shown.calls, shown.failed_calls, shown.eta_seconds, shown.note) == (24, 0, None, "")
    assert shown.cost == sum(call.cost for call in Call.objects.filter(run__experiment=experiment)) > 0
    assert all(verdict.call for battle in of(experiment) for verdict in battle.verdicts.all())

    file = making.ask({"experiment": str(experiment.pk)}, by=experiment.owner, format_=FORMATS["jsonl"], language="en")
    making.make_all(threading.Event())
    file.refresh_from_db()
    lines = file.path.read_bytes().splitlines()
    assert (len(lines), sum(len(json.loads(line)["battles"]) for line in lines)) == (runs_of(experiment).count(), 12)


def test_what_has_been_fought_or_made_void_is_not_fought_again(field, battles, campaign, play, alice):
    dataset = field(contestants=2, samples=3)
    experiment = campaign(battles(dataset))
    with pytest.raises(Conflict):
        actions.start(experiment, by=alice)
    play(experiment)
    voiding.void(of(experiment).first(), by=alice, reason="A picture of somebody.")
    again = battles(dataset)

    assert missing(experiment, 5) == []
    assert counting.recount(Board.objects.get()) == 2
    assert actions.start(again, by=alice) == []
    assert (state_of(again), of(again).exists()) == (Campaign.State.COMPLETED, False)
    Battle.objects.filter(void_reason="").update(
        winner="", judged=None, open_reason="Refused.", void_reason="Another.", voided="2026-01-01T00:00Z"
    )
    assert progress(experiment).open == 0
    assert not campaigns.resume(experiment, by=alice)


def test_another_judge_prompt_or_instrument_is_another_board_and_is_asked_by_itself(
    field, battles, campaign, play, alice
):
    dataset, copied = field(contestants=2, samples=2), builtin()["battle_text_quality"].definition
    version = services.save(owner=alice, title="Ours", definition=copied.model_dump(mode="json"))
    play(campaign(battles(dataset)))
    both = campaign(battles(dataset, **{"judge-2": "sim/judge:tps=0:first=0.001"}))
    play(both)
    play(campaign(battles(dataset, prompt="text_instruction")))
    ours = battles(dataset, prompt="", instrument=choosing.frozen(version))
    play(campaign(ours))

    boards = Board.objects.order_by("pk")
    assert len({(board.judge, board.prompt, board.prompt_version) for board in boards}) == 4
    assert [board.battles.count() for board in boards] == [2, 2, 2, 2]
    assert {key.split("/")[1] for key in asked(both)} == {"judge-2"}
    named = (boards[3].prompt, boards[3].prompt_version)
    assert named == ("instrument: Ours", ours.parsed_config().prompt_version)
    scored = {name for battle in of(ours) for one in battle.verdicts.all() for name in one.scores["left"]}
    assert scored >= {"accuracy", "clarity"}
    with pytest.raises(Invalid):
        actions.create(owner=alice, workflow="battles", config={**ours.config, "prompt": "text_quality"}, cast={})


def test_during_an_outage_everything_stays_open_and_is_asked_again_on_resume(field, battles, campaign, play, alice):
    experiment = campaign(battles(field(contestants=3, samples=2), judge=DEAD))
    play(experiment)

    assert state_of(experiment) == Campaign.State.OPEN
    assert of(experiment).count() == of(experiment).filter(winner="", is_consistent=None).count() == 6
    assert all(battle.open_reason for battle in of(experiment))
    shown = progress(experiment)
    assert (shown.decided, shown.open, shown.consistent_share) == (0, 6, None)
    assert sum(count for _reason, count in shown.open_reasons) == 6

    serve(DEAD, RISEN)
    contestants.void(Contestant.objects.get(name="ash"), by=alice, reason="Copied.")
    assert progress(experiment).open == 2, "nobody waits for the battles of who was left out"
    battle = of(experiment).exclude(left__name="ash").first()
    Battle.objects.filter(pk=battle.pk).update(winner="tie", is_consistent=True, judged=battle.created, open_reason="")
    failed = len(asked(experiment))
    assert campaigns.resume(experiment, by=alice)
    play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert len(asked(experiment)) - failed == 2 * 1
    assert Battle.objects.get(pk=battle.pk).winner == "tie"


def test_a_contestant_that_joins_later_fights_only_its_own_battles(field, battles, campaign, play, alice):
    dataset = field(contestants=3, samples=2)
    experiment = campaign(battles(dataset))
    late = join(dataset, "yew")
    play(experiment)
    before = set(asked(experiment))
    assert of(experiment).count() == 6, "who joins while it runs is asked for on resume"

    assert campaigns.resume(experiment, by=alice)
    play(experiment)

    new = set(asked(experiment)) - before
    assert len(new) == 2 * 3 * 2
    assert all(f"-{late.pk}/" in key for key in new)
    assert progress(experiment).wanted == 6 + 6
    assert not campaigns.resume(experiment, by=alice), "nothing is missing any more"


@pytest.mark.databases
def test_limits_hold_over_all_runs_of_a_campaign(field, battles, campaign, play, alice):
    experiment = campaign(battles(field(contestants=3, samples=4), side_by_side=1, limits={"tokens": 4000}))
    play(experiment)

    shown = progress(experiment)
    assert state_of(experiment) == Campaign.State.STOPPED
    assert "4000 tokens" in shown.note
    assert 0 < shown.input_tokens + shown.output_tokens <= 4000
    assert 0 < shown.decided < 12
    assert campaigns.resume(experiment, by=alice, limits={})
    play(experiment)
    assert state_of(experiment) == Campaign.State.COMPLETED
    assert len(asked(experiment)) == len(set(asked(experiment))) == 24


def test_models_are_asked_for_their_outputs_until_they_come(field, alice, provider, play, woken_runs):
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


def test_a_button_pressed_twice_starts_one_campaign(field, battles, campaign, alice, play):
    dataset = field(contestants=3, samples=2)
    first, second = (battles(dataset, contestants=["ash", "birch"]) for _ in range(2))
    campaign(first)
    for more in ({}, {"seed": 5}):
        with pytest.raises(Conflict, match="already"):
            campaigns.start(second, by=alice, **more)

    assert not Campaign.objects.filter(experiment=second).exists()
    campaign(battles(dataset, contestants=["birch", "cedar"]))
    play(first)
    assert len(asked(first)) == 4
    assert campaigns.start(second, by=alice) == [], "it may be started once the other one is over"


def test_who_is_left_out_meanwhile_fights_no_more_and_keeps_nobody_from_resuming(field, battles, campaign, play, alice):
    dataset = field(contestants=3, samples=4)
    experiment = campaign(battles(dataset, contestants=["ash", "birch", "cedar"]))
    ash = Contestant.objects.get(name="ash")
    contestants.void(ash, by=alice, reason="Copied.")
    begun = {task["sample"] for run in runs_of(experiment) for task in run.overrides["tasks"] if task["left"] == ash.pk}
    play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).filter(left=ash).count() < 2 * 4
    assert set(of(experiment).filter(left=ash).values_list("sample", flat=True)) == begun
    assert of(experiment).exclude(left=ash).count() == 4
    assert progress(experiment).share == 1
    assert not campaigns.resume(experiment, by=alice), "what the others have to do is done"

    contestants.restore(ash, by=alice)
    assert campaigns.resume(experiment, by=alice)
    play(experiment)
    assert of(experiment).count() == len(asked(experiment)) / 2 == 12


def test_a_run_that_fails_again_and_again_does_not_stop_the_others(field, battles, campaign, play, alice, monkeypatch):
    experiment = campaign(battles(field(contestants=2, samples=6)))
    cursed = runs_of(experiment).order_by("created").first().pk
    written = rows._written

    def sometimes(same, found):
        if found["run_id"] == cursed:
            raise RuntimeError("no row can be written")
        return written(same, found)

    monkeypatch.setattr(rows, "_written", sometimes)
    play(experiment)
    assert state_of(experiment) == Campaign.State.FAILED
    assert "RuntimeError" in Campaign.objects.get(pk=experiment.pk).note
    for _again in range(2):
        campaigns.resume(experiment, by=alice)
        play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).exclude(winner="").count() == 6
    assert progress(experiment).calls == reservations.spent_by_campaign_of(experiment.pk).calls >= 12


def test_a_prompt_that_was_changed_and_a_judge_that_was_switched_off_are_named(field, battles, campaign, play, alice):
    changed = campaign(battles(field(contestants=2, samples=2)))
    config = {**changed.config, "prompt_version": "0123456789abcdef"}
    Experiment.objects.filter(pk=changed.pk).update(config=config)
    play(changed)

    assert state_of(changed) == Campaign.State.FAILED
    assert PROMPTS["text_quality"].version in Campaign.objects.get(pk=changed.pk).note
    assert not of(changed).exists()
    with pytest.raises(Invalid, match="set the battles up again"):
        campaigns.resume(Experiment.objects.get(pk=changed.pk), by=alice)
    Experiment.objects.filter(pk=changed.pk).update(config=changed.config)
    ProviderModel.objects.filter(slug=JUDGE).update(is_active=False)
    with pytest.raises(Forbidden, match="are not available"):
        campaigns.resume(changed, by=alice)
    assert state_of(changed) == Campaign.State.FAILED


def test_the_sweep_feeds_what_nobody_fed_and_ends_what_has_lost_its_dataset(field, battles, campaign, play, alice):
    lost, other = (campaign(battles(field(contestants=2, samples=3, slug=slug))) for slug in ("lost", "other"))
    Campaign.objects.filter(pk=lost.pk).update(state=Campaign.State.FAILED)
    assert campaigns.stop(lost, by=alice), "what is still under way after a failure can be stopped"
    assert (runs_of(lost).live().exists(), campaigns.stop(lost, by=alice)) == (False, False)

    Campaign.objects.update(cursor={}, state=Campaign.State.RUNNING)
    runs_of(lost).delete()
    runs_of(other).delete()
    Dataset.objects.filter(slug="lost").delete()

    campaigns.feed_all()
    assert runs_of(other).live().exists()
    assert state_of(lost) == Campaign.State.FAILED
    assert "dataset is gone" in progress(lost).note
    play(other)
    assert state_of(other) == Campaign.State.COMPLETED


def test_of_an_archived_project_what_is_under_way_ends_and_nothing_more_begins(field, battles, campaign, play, alice):
    experiment = battles(field(contestants=3, samples=4))
    project = Project.objects.create(name="Trees")
    Membership.objects.create(project=project, user=alice, role=Membership.Role.LEAD)
    Experiment.objects.filter(pk=experiment.pk).update(project=project)
    experiment.refresh_from_db()
    campaign(experiment)
    Project.objects.update(archived=True)
    play(experiment)

    assert (state_of(experiment), of(experiment).count()) == (Campaign.State.STOPPED, 9)
    assert "archived" in progress(experiment).note
    with pytest.raises(Forbidden):
        campaigns.resume(Experiment.objects.get(pk=experiment.pk), by=alice)
