"""Agreement from rows: without what was said after a look behind, silent about too few."""

import csv
import io

import pytest

from accounts.errors import Invalid
from experiments.models import Judgment
from experiments.review import agreement, queues, slots
from experiments.review.answers import Correction
from experiments.review.coefficients import Asked
from leaderboard.ratings.values import Reason, Undefined
from tests.experiments.reviews import reviewed
from tests.fixtures import signed_in


@pytest.fixture
def reviewed_queue(alice, bob, dora):
    """Six items, each with two answers: Dora scores as Bob does, but for one item."""
    queue = reviewed.queue(alice, bob, dora, turns=3, overlap=2)
    for number, item in enumerate(queue.items.order_by("number")):
        score = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.0)[number]
        slots.claim(item, by=bob)
        reviewed.answer(item, bob, score)
        slots.claim(item, by=dora)
        reviewed.answer(item, dora, 0.0 if number == 5 else score)
    return queue


def test_a_queue_tells_how_far_people_and_the_judge_agree_to_its_reviewers_once_it_is_closed(
    reviewed_queue, alice, bob, read
):
    found = agreement.of(reviewed_queue)
    cooperation = found.measures[0]

    assert (found.answers, found.people, cooperation.items) == (12, 2, 6)
    assert cooperation.alpha.interval.low < cooperation.alpha.value < 1
    assert cooperation.pairs[0].items == 6
    assert cooperation.judge.items == 6
    assert cooperation.judge.judge == pytest.approx(0.4)
    assert [one.number for one in found.disputed] == [6]
    assert {one.name for one in found.reviewers} == {"bob", "dora"}
    assert all(one.deviation == pytest.approx(1 / 12) for one in found.reviewers)
    assert all(0 <= one.seconds < 600 for one in found.reviewers)

    browser, address = signed_in(bob), f"/review/{reviewed_queue.pk}/agreement"
    assert browser.get(f"{address}/").status_code == 403
    queues.set_open(reviewed_queue, by=alice, is_open=False)
    page = read(browser.get(f"{address}/")).text
    rows = list(csv.DictReader(io.StringIO(browser.get(f"{address}.csv").content.decode())))
    alpha = next(row for row in rows if (row["measure"], row["statistic"]) == ("cooperation", "krippendorff_alpha"))
    assert f"{float(alpha['value']):+.2f}" in page
    assert next(row for row in rows if row["measure"] == "deception")["undefined"] == "nothing_paired"


def test_answers_after_a_look_behind_or_taken_back_do_not_count(reviewed_queue, bob, dora):
    item = reviewed_queue.items.get(number=1)
    before = agreement.report(reviewed_queue).measures[0].alpha
    slots.reveal(item, by=bob)
    assert reviewed.answer(item, bob, 1.0).is_informed
    assert agreement.report(reviewed_queue).measures[0].alpha == before
    slots.undo(reviewed_queue, by=dora)
    assert agreement.of(reviewed_queue).measures[0].items == 5

    last = slots.place_of(reviewed_queue.items.last(), bob)
    slots.reveal(last.item, by=bob)
    with pytest.raises(Invalid, match="new version"):
        slots.undo(reviewed_queue, by=bob)
    assert not slots.release(last.item, by=bob)
    assert slots.place_of(last.item, bob).answer == last.answer, "nobody begins again after a look"


def test_scores_that_people_corrected_are_counted_with_their_mean(alice, bob):
    queue = reviewed.queue(alice, bob, turns=1, is_blind=False)
    for item, score in zip(queue.items.order_by("number"), (-0.5, 1.0), strict=True):
        judgment = Judgment.objects.get(subject=item.message.seat)
        reviewed.answer(item, bob, corrections=(Correction(judgment.pk, "cooperation", score, "It threatens."),))

    judge = agreement.report(queue).measures[0].judge
    assert (judge.corrections, judge.corrected) == (2, 0.25)


def test_an_answer_is_compared_with_its_latest_judgment_and_a_replaced_one_with_none(alice):
    played = reviewed.record(alice, turns=1)
    played.judged(1, {"A": {"cooperation": 1.0}})
    queue = reviewed.queue(alice, alice, played=False)
    a, b = (queue.items.get(message__seat=seat).number for seat in "AB")

    assert agreement.judge_scores(queue)["cooperation"] == {a: 1.0, b: pytest.approx(0.4)}
    played.run.messages.filter(seat="A").update(superseded=True)
    assert set(agreement.judge_scores(queue)["cooperation"]) == {b}

    values = {person: {0: 1.0, 1: 2.0} for person in (0, 1)}
    found = Asked("wit", "Wit", "ordinal", values, (1.0, 2.0)).measured({0: "a", 1: "b"}, {}, [])
    numbers = {found.alpha.value, found.fleiss.value, found.pairs[0].kappa.value}
    assert numbers == {Undefined(Reason.TOO_FEW_UNITS)}, "a reason and no number"


def test_a_label_with_one_choice_is_one_measure_and_one_with_several_a_measure_for_each(alice, bob, dora):
    queue = reviewed.queue(alice, bob, dora, turns=1, overlap=2, rubric=reviewed.rubric("conduct"))
    item = queue.items.first()
    reviewed.answer(item, bob, None, labels={"harm": ["none"], "signs": ["lie"]})
    reviewed.answer(item, dora, None, labels={"harm": ["plain"], "signs": ["lie", "concealment"]})

    found = agreement.report(queue)
    signs = [f"signs.{name}" for name in ("lie", "concealment", "manipulation", "self_preservation")]
    assert [(one.name, one.answers) for one in found.measures] == [(name, 2) for name in ("harm", *signs)]
    assert [one.distance for one in found.disputed] == [pytest.approx(2 / 5)]
