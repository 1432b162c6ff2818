"""How far judges agree with people: every figure by hand, and the page that shows it."""

import pytest
from django.test import Client

from experiments.models import Battle, Verdict
from experiments.workflows.battles.campaign import boards, counting
from leaderboard.boards import compute
from leaderboard.ratings import Undefined
from leaderboard.votes import agreement
from tests.fixtures import signed_in
from tests.leaderboard.boards import contestants_of, dataset_of, samples_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset(alice):
    made = dataset_of(alice, "Both", visibility="public")
    contestants_of(made, "abc")
    samples_of(made, 30)
    return made


def decide(board, winners, ballot="", first=None):
    """One battle between a and b on each sample, in sequence; None leaves a sample out."""
    left, right = board.dataset.contestants.order_by("pk")[:2]
    for sample, winner in zip(board.dataset.samples.order_by("index"), winners, strict=False):
        if winner:
            pair = {"sample": sample, "left": left, "right": right, "ballot": ballot, "shown_left_first": first}
            Battle.objects.create(board=board, winner=winner, judged=sample.dataset.created, **pair)
    counting.recount(board)


@pytest.fixture
def judge(dataset):
    return boards.imported_board(dataset, "a judge")


@pytest.fixture
def people(dataset):
    return boards.people_board(dataset)


def test_agreement_is_counted_on_the_same_outputs_of_the_same_sample(dataset, judge, people):
    decide(judge, ["left", "left", "right", "tie", "left", None])
    decide(people, ["left", "right", "right", "both_bad", "tie", "left"], "user:1", first=True)

    [pair] = agreement.report(dataset).pairs
    found = pair.answers

    assert found.compared == 5
    assert (found.exact.part, found.decisive.part, found.decisive.of) == (3, 2, 3)
    expected = (3 * 1 + 1 * 2 + 1 * 2) / 25
    assert found.kappa == pytest.approx((3 / 5 - expected) / (1 - expected))
    assert found.interval.low <= found.kappa <= found.interval.high
    decide(people, ["left", "left", "left", "tie"], "user:2", first=False)
    ceiling = agreement.report(dataset).people[0].among
    assert (ceiling.exact.part, ceiling.exact.of) == (2, 4), "how two people agree on the same item"
    assert (ceiling.decisive.part, ceiling.decisive.of) == (1, 3)


@pytest.mark.databases
def test_void_battles_offers_and_contestants_that_are_left_out_are_no_answers(dataset, judge, people):
    decide(judge, ["left", "left", "left"])
    decide(people, ["left", "left", "left"], "user:1", first=True)
    first, _middle, last = Battle.objects.filter(board=people).order_by("pk")
    Battle.objects.filter(pk=first.pk).update(void_reason="no", voided=first.created)
    Battle.objects.filter(pk=last.pk).update(winner="", judged=None)

    report = agreement.report(dataset)

    assert (report.votes, report.pairs[0].answers.compared) == (1, 1)
    dataset.contestants.filter(name="b").update(void_reason="It had seen the samples.")
    assert agreement.report(dataset).pairs[0].answers.compared == 0


def test_without_votes_every_figure_is_undefined_and_a_leaning_to_what_is_shown_first_is_seen(dataset, judge, people):
    [pair], [among] = agreement.report(dataset).pairs, agreement.report(dataset).people

    assert isinstance(pair.answers.kappa, Undefined)
    assert isinstance(pair.ranks, Undefined)
    assert (pair.answers.exact.value, among.among.exact.value) == (None, None)
    assert Client().get(f"/leaderboard/{compute.ensure_ladder(judge).slug}/agreement/").status_code == 200

    decide(judge, ["tie"] * 20)
    for battle in judge.battles.all():
        Verdict.objects.create(battle=battle, order="original", winner="left")
        Verdict.objects.create(battle=battle, order="swapped", winner="right")
    _of_people, found = agreement.report(dataset).boards
    assert (found.order.first.part, found.order.first.of) == (40, 40)


def test_page_and_programs_have_figures_of_boards_they_may_see_and_follow_votes(dataset, judge, people, charlie):
    decide(judge, ["left", "right", "left", "right", "tie"])
    decide(people, ["left", "right", "left"], "user:1", first=True)
    slug = compute.ensure_ladder(judge).slug
    page, api = f"/leaderboard/{slug}/agreement/", f"/api/ladders/{slug}/agreement/"

    assert "100.0 %" in Client().get(page).content.decode()
    decide(people, [None, None, None, "left", "left"], "user:2", first=True)
    shown, told = Client().get(page).content.decode(), Client().get(api).json()

    for words in ("60.0 %", "5 votes", "2 voters"):
        assert words in shown, words
    [of_people, of_judge] = told["boards"]
    assert (of_people["board"], of_people["judgments"], of_people["voters"]) == (people.slug, 5, 2)
    assert (of_people["among"]["compared"], of_people["among"]["kappa_reason"]) == (0, "nothing_paired")
    assert (of_judge["judgments"], of_judge["voters"], of_judge["among"]) == (5, None, None)
    [pair] = told["pairs"]
    assert (pair["answers"]["same_answer"]["part"], pair["answers"]["compared"]) == (3, 5)
    dataset.visibility = "private"
    dataset.save()
    assert [one.get(api).status_code for one in (signed_in(charlie), Client())] == [404, 404]
