"""Which battles a plan draws: the same ones for the same seed, and no more than it needs."""

import re

import pytest

from accounts.errors import Invalid
from experiments.models import Battle, Board, Campaign, Contestant, Output
from experiments.workflows.battles.campaign import adaptive, planning
from experiments.workflows.battles.campaign.campaigns import resume
from experiments.workflows.battles.campaign.counting import recount
from experiments.workflows.battles.campaign.progress import progress
from experiments.workflows.battles.campaign.scope import scope_of
from tests.experiments.campaigns.conftest import asked, join, missing, of, runs_of, state_of


def pairs_of(tasks):
    by_pair = {}
    for task in tasks:
        by_pair.setdefault((task["left"], task["right"]), set()).add(task["sample"])
    return by_pair


def test_all_draws_every_sample_that_both_have_an_output_for_but_of_nobody_who_is_left_out(field, battles):
    dataset = field(contestants=3, samples=5)
    Output.objects.filter(contestant__name="ash", sample__index=2).delete()
    tasks = missing(battles(dataset), 100)

    assert len(tasks) == 4 + 4 + 5
    assert all(task["left"] < task["right"] for task in tasks)
    assert len({tuple(sorted(task.items())) for task in tasks}) == 13

    Contestant.objects.filter(name="ash").update(void_reason="Copied.")
    assert len(pairs_of(missing(battles(dataset), 100))) == 1
    with pytest.raises(Invalid, match="left out"):
        battles(dataset, contestants=["ash", "birch"])


def test_planning_reads_battles_and_outputs_in_their_own_order(field, battles, django_assert_max_num_queries):
    """To order by a relation is to join and sort: of a million battles, that takes longer than to read them."""
    dataset = field(contestants=4, samples=6)
    experiment = battles(dataset)
    [task, *_others] = missing(experiment, 1)
    [board] = scope_of(experiment).boards.values()
    place = {"sample_id": task["sample"], "left_id": task["left"], "right_id": task["right"]}
    Battle.objects.create(board_id=board, **place, winner="left")
    recount(Board.objects.get(pk=board))

    with django_assert_max_num_queries(30) as seen:
        assert len(missing(experiment, 100)) == 35
    read = [
        one["sql"] for one in seen.captured_queries if "experiments_battle" in one["sql"] or "_output" in one["sql"]
    ]
    assert read
    assert not [sql for sql in read if " JOIN " in sql]


def test_a_version_names_who_is_new_and_only_they_are_compared(field, battles, campaign):
    dataset = field(contestants=3, samples=2)
    Contestant.objects.filter(dataset=dataset).update(version="first_20260101")
    late = join(dataset, "yew")
    join(dataset, "willow", version="third_20270101")
    experiment = campaign(battles(dataset, version="second_20260601", pairs="new"))

    late.refresh_from_db()
    assert late.version == "second_20260601"
    drawn = pairs_of(missing(experiment, 100))
    assert len(drawn) == 3
    assert all(late.pk in pair for pair in drawn)


def play_round(ground, lanes):
    """Fight what a round wants: the contestant that joined first is the strongest, most of the time."""
    [board] = ground.scope.boards.values()
    fought = 0
    for lane in lanes:
        [missing] = ground.missing(lane).values()
        for sample in ground.grid.samples[missing][: lane.quota]:
            place = {"sample_id": int(sample), "left_id": lane.left, "right_id": lane.right}
            winner = "right" if int(sample) % 3 == 0 else "left"
            Battle.objects.create(board_id=board, **place, winner=winner, is_consistent=True)
            fought += 1
    recount(Board.objects.get(pk=board))
    return fought


def test_an_adaptive_plan_draws_where_intervals_are_wide_and_ends(field, battles):
    sampling = {"plan": "adaptive", "min_per_pair": 8, "max_per_pair": 60, "batch": 10, "target_width": 130}
    experiment = battles(field(contestants=4, samples=80), sampling=sampling)
    ground = planning.BattleGround(scope_of(experiment), 0)

    first = adaptive.next_round(ground)
    assert {lane.quota for lane in first} == {8}
    assert len(first) == 6
    play_round(ground, first)
    before = adaptive.widths(ground.scope).widths
    for _round in range(40):
        lanes = adaptive.next_round(ground)
        if not lanes:
            break
        wide = set(adaptive.widths(ground.scope).wide(130))
        assert all({lane.left, lane.right} & wide for lane in lanes)
        assert play_round(ground, lanes) <= 10 * len(wide)
    else:
        raise AssertionError("it goes on for ever")
    after = adaptive.widths(ground.scope).widths
    assert max(after.values()) < max(before.values())
    wide = adaptive.widths(ground.scope).wide(130)
    left_over = [pair for pair in ground.scope.pairs if set(pair) & set(wide)]
    assert all(Battle.objects.filter(left=left, right=right).count() == 60 for left, right in left_over)


def test_an_adaptive_campaign_goes_by_rounds_and_leaves_what_cannot_be_judged(field, battles, campaign, play, scripted):
    judge_by_name = re.compile(r"(Ash|Birch|Cedar) says: tree (\d+) ")

    def reply(body):
        (first, number), (second, _number) = judge_by_name.findall(str(body["messages"]))
        if "Ash" in (first, second) and number == "1":
            return "I cannot say."
        winner = "A" if (first < second) == (int(number) % 3 > 0) else "B"
        return f'{{"rationale": "So.", "scores": {{"A": {{}}, "B": {{}}}}, "winner": "{winner}", "confidence": 0.5}}'

    judge = scripted.model("scripted/judge", reply)
    sampling = {"plan": "adaptive", "min_per_pair": 3, "max_per_pair": 8, "batch": 6, "target_width": 1}
    experiment = campaign(battles(field(contestants=3, samples=8), judge=judge, sampling=sampling, attempts=0))
    play(experiment)

    assert state_of(experiment) == Campaign.State.OPEN
    assert of(experiment).filter(winner="").count() == 2
    assert of(experiment).exclude(winner="").count() == 3 * 8 - 2
    assert Campaign.objects.get(pk=experiment.pk).round > 1
    assert len(asked(experiment)) == len(set(asked(experiment))) == 48
    assert resume(experiment, by=experiment.owner)
    play(experiment)
    assert state_of(experiment) == Campaign.State.OPEN
    assert len(asked(experiment)) == 48 + 4, "only what was open was asked again, once"


def test_an_adaptive_plan_divided_over_several_runs_stays_adaptive_and_says_that_it_misses_its_target(
    field, battles, campaign, play, settings
):
    settings.BATTLES_PER_RUN, settings.RUNS_PER_CAMPAIGN = 2, 4
    sampling = {"plan": "adaptive", "min_per_pair": 3, "max_per_pair": 20, "batch": 1, "target_width": 1000}
    tight = {**sampling, "min_per_pair": 2, "max_per_pair": 3, "target_width": 1}
    wide, few = (
        campaign(battles(field(contestants=3, samples=samples, slug=slug), sampling=plan))
        for slug, samples, plan in (("wide", 20, sampling), ("few", 3, tight))
    )
    play(wide)
    play(few)

    notes = [(found.state, found.note) for found in map(progress, (wide, few))]
    assert notes == [(Campaign.State.COMPLETED, ""), (Campaign.State.COMPLETED, "The target width was not reached.")]
    assert runs_of(wide).count() >= 4
    assert 9 <= of(wide).exclude(winner="").count() < 60


def test_a_sample_is_the_same_for_all_pairs_which_advance_together_and_for_the_same_seed(field, battles, settings):
    settings.BATTLES_PER_RUN = 5
    dataset = field(contestants=4, samples=20)
    experiment = battles(dataset, sampling={"plan": "sample", "per_pair": 7})
    drawn = pairs_of(missing(experiment, 1000, seed=3))

    assert len(drawn) == 6
    [same] = {frozenset(samples) for samples in drawn.values()}
    assert len(same) == 7
    assert drawn == pairs_of(missing(experiment, 1000, seed=3))
    assert drawn != pairs_of(missing(experiment, 1000, seed=4))
    everything = battles(dataset)
    assert {len(samples) for samples in pairs_of(missing(everything, 30)).values()} == {5}
    assert len(missing(everything, 1000)) == 120
