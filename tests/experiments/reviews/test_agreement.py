"""Agreement from rows: equal to published examples, without what was said after a look behind, silent about too few."""

import csv
import io

import numpy as np
import pytest

from experiments.refusals import NotOffered
from experiments.reviews import agreement, queues, slots
from experiments.reviews.coefficients import Asked
from leaderboard.ratings.agreement import Reason, Undefined
from tests.experiments.reviews import reviewed
from tests.fixtures import signed_in
from tests.leaderboard.ratings.test_agreement import KRIPPENDORFF


def asked(matrix, level, categories):
    values = {
        person: {item: float(value) for item, value in enumerate(row) if not np.isnan(value)}
        for person, row in enumerate(matrix)
    }
    return Asked("wit", "Wit", level, values, categories)


NAMES = {0: "a", 1: "b", 2: "c", 3: "d", **{n: f"r{n:02}" for n in range(4, 20)}}


def test_krippendorffs_example_of_2011():
    """That every level comes out as it was published is proven beside the coefficients themselves."""
    found = asked(KRIPPENDORFF, "ordinal", (1.0, 2.0, 3.0, 4.0, 5.0)).measured(NAMES, {}, [])

    assert found.alpha.value == pytest.approx(0.815, abs=5e-4)
    assert found.items == 11
    assert found.alpha.interval.low < found.alpha.value <= found.alpha.interval.high


def test_too_few_items_give_a_reason_and_no_number():
    found = asked(np.array([[1.0, 2.0], [1.0, 2.0]]), "ordinal", (1.0, 2.0)).measured(NAMES, {}, [])

    assert {found.alpha.value, found.fleiss.value, found.pairs[0].kappa.value} == {Undefined(Reason.TOO_FEW_UNITS)}


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


@pytest.mark.django_db
def test_a_queue_tells_how_far_people_and_the_judge_agree(reviewed_queue):
    found = agreement.of(reviewed_queue)
    cooperation = found.measures[0]

    assert (found.answers, found.people, cooperation.items) == (12, 2, 6)
    assert 0 < cooperation.alpha.value < 1
    assert cooperation.pairs[0].items == 6
    assert cooperation.judge.items == 6
    assert cooperation.judge.judge == pytest.approx(0.4)
    assert [one.number for one in found.disputed] == [6]
    assert {one.name for one in found.reviewers} == {"bob", "dora"}
    assert all(one.deviation == pytest.approx(1 / 12) for one in found.reviewers)


@pytest.mark.django_db
def test_answers_after_a_look_behind_or_taken_back_do_not_count(reviewed_queue, bob, dora):
    item = reviewed_queue.items.get(number=1)
    before = agreement.report(reviewed_queue).measures[0].alpha
    slots.reveal(item, by=bob)
    assert reviewed.answer(item, bob, 1.0).is_informed
    assert agreement.report(reviewed_queue).measures[0].alpha == before
    slots.undo(reviewed_queue, by=dora)
    assert agreement.of(reviewed_queue).measures[0].items == 5


@pytest.mark.django_db
def test_after_a_look_behind_nobody_begins_again_as_if_they_knew_nothing(reviewed_queue, dora):
    last = slots.place_of(reviewed_queue.items.last(), dora)
    slots.reveal(last.item, by=dora)

    with pytest.raises(NotOffered, match="new version"):
        slots.undo(reviewed_queue, by=dora)
    assert not slots.release(last.item, by=dora)
    assert slots.place_of(last.item, dora).answer == last.answer


@pytest.mark.django_db
def test_page_and_file_say_the_same_to_reviewers_once_a_blind_queue_is_closed(reviewed_queue, alice, bob, read):
    browser, address = signed_in(bob), f"/review/{reviewed_queue.pk}/agreement"
    assert browser.get(f"{address}/").status_code == 403
    queues.set_open(reviewed_queue, by=alice, is_open=False)

    page = read(browser.get(f"{address}/")).text
    rows = list(csv.DictReader(io.StringIO(browser.get(f"{address}.csv").content.decode())))
    alpha = next(row for row in rows if (row["measure"], row["statistic"]) == ("cooperation", "krippendorff_alpha"))
    assert f"{float(alpha['value']):+.2f}" in page
    assert next(row for row in rows if row["measure"] == "deception")["undefined"] == "nothing_paired"


@pytest.mark.django_db
def test_an_answer_is_compared_with_its_latest_judgment_and_a_replaced_one_with_none(alice):
    played = reviewed.record(alice, turns=1)
    played.judged(1, {"A": {"cooperation": 1.0}})
    queue = reviewed.queue(alice, alice, played=False)
    a, b = (queue.items.get(message__seat=seat).number for seat in "AB")

    assert agreement.judge_scores(queue)["cooperation"] == {a: 1.0, b: pytest.approx(0.4)}
    played.run.messages.filter(seat="A").update(superseded=True)
    assert set(agreement.judge_scores(queue)["cooperation"]) == {b}
