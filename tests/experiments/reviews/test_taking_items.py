"""Who gets which item: nobody twice, never two at one place, and exactly as many people as the queue asks for."""

from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry
from experiments.models import ReviewItem, ReviewQueue, ReviewSlot
from experiments.review import queues, slots
from tests.experiments.reviews import reviewed
from tests.rivals import at_once


@pytest.fixture
def queue(alice, bob, dora):
    return reviewed.queue(alice, bob, dora)


def expire(item):
    ReviewSlot.objects.filter(item=item).update(until=timezone.now() - timedelta(seconds=1))


def test_items_are_held_offered_again_and_answered_one_after_the_other(queue, bob, dora):
    assert slots.undo(queue, by=bob) is None, "there is nothing to take back at first"
    first = slots.next_item(queue, by=bob)
    assert slots.next_item(queue, by=bob) == first
    assert slots.place_of(first, bob).until > timezone.now()
    assert slots.next_item(queue, by=dora) != first
    with pytest.raises(slots.SlotUnavailable):
        slots.claim(first, by=dora)
    assert slots.claim(first, by=bob).holder == bob
    second = slots.next_item(queue, by=dora)
    assert slots.release(second, by=dora)
    assert not slots.release(second, by=dora)

    seen = []
    while item := slots.next_item(queue, by=bob):
        seen.append(item.number)
        reviewed.answer(item, bob)
    assert seen == [1, 2, 3, 4]


def test_the_item_with_the_fewest_answers_comes_first(alice, bob, dora):
    queue = reviewed.queue(alice, bob, dora, overlap=2)
    first = slots.next_item(queue, by=bob)
    reviewed.answer(first, bob)

    assert slots.next_item(queue, by=dora).number == first.number + 1


def test_an_expired_hold_goes_to_somebody_else_unless_it_is_renewed(queue, bob, dora):
    item = slots.next_item(queue, by=bob)
    expire(item)
    assert slots.renew(item, by=bob)
    assert slots.next_item(queue, by=dora) != item

    slots.release(slots.next_item(queue, by=dora), by=dora)
    expire(item)
    assert slots.next_item(queue, by=dora) == item
    assert slots.place_of(item, bob) is None


def test_what_somebody_passes_over_is_offered_to_others_alone(queue, bob, dora):
    item = slots.next_item(queue, by=bob)
    slots.skip(item, by=bob, reason="I know the author.")

    assert slots.next_item(queue, by=bob) != item
    assert slots.next_item(queue, by=dora) == item
    with pytest.raises(Invalid):
        slots.skip(item, by=dora, reason="  ")


def test_nobody_holds_or_takes_anything_as_a_stranger_or_in_a_closed_queue(queue, alice, bob, dora):
    item = slots.next_item(queue, by=bob)
    queues.assign(queue, by=alice, members=["dora"])
    assert AuditEntry.objects.filter(action="shared").latest("pk").detail["members"] == ["dora"]
    assert not item.slots.filter(holder=bob).exists()
    assert not ReviewItem.objects.visible_to(bob).exists()
    with pytest.raises(Forbidden):
        slots.next_item(queue, by=bob)
    queues.set_open(queue, by=alice, is_open=False)
    with pytest.raises(Forbidden, match="closed"):
        slots.next_item(queue, by=dora)


def test_taking_back_gives_the_last_item_again_and_keeps_its_version(queue, bob):
    first = slots.next_item(queue, by=bob)
    reviewed.answer(first, bob)
    second = slots.next_item(queue, by=bob)
    reviewed.answer(second, bob)

    assert slots.undo(queue, by=bob) == second
    assert slots.place_of(second, bob).answer is None
    assert reviewed.answer(second, bob, -0.5).version == 2
    assert [one.version for one in second.answers.all()] == [1, 2]


def test_progress_counts_ones_own_answers_and_reckons_with_ones_own_pace_or_else_that_of_all(queue, alice, bob, dora):
    for person, seconds in ((bob, 100), (dora, 300)):
        item = slots.next_item(queue, by=person)
        ReviewSlot.objects.filter(item=item).update(claimed=timezone.now() - timedelta(seconds=seconds))
        reviewed.answer(item, person)

    of_bob, of_alice = slots.progress(queue, bob), slots.progress(queue, alice)
    assert (of_bob.mine, of_bob.answers, of_bob.places, of_bob.complete, of_bob.left) == (1, 2, 4, 2, 2)
    assert of_alice.mine == 0
    paces = [slots.seconds_per_item(queue, person) for person in (bob, dora, alice)]
    assert paces == pytest.approx([100, 300, 200], abs=20)
    assert of_bob.eta_seconds == pytest.approx(200, abs=40)


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("overlap", [1, 3])
def test_ten_people_at_the_same_moment_never_hold_one_place(alice, overlap):
    everybody = [get_user_model().objects.create_user(f"person-{n}", role="reviewer") for n in range(10)]
    queue = reviewed.queue(alice, *everybody, turns=3, overlap=overlap)
    take = [partial(slots.next_item, ReviewQueue.objects.get(pk=queue.pk), by=person) for person in everybody]
    found = at_once(*take, refused=slots.SlotUnavailable)

    places = ReviewSlot.objects.filter(item__queue=queue)
    got = [item for item in found if item]
    assert len(got) == min(10, 6 * overlap)
    assert places.filter(holder__isnull=False).count() == len(got)
    assert max(found.count(item) for item in got) <= overlap
    assert len(set(places.filter(holder__isnull=False).values_list("item", "holder"))) == len(got)


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_people_who_answer_at_the_same_moment_are_never_more_than_wanted(alice):
    everybody = [get_user_model().objects.create_user(f"person-{n}", role="reviewer") for n in range(6)]
    item = reviewed.queue(alice, *everybody, turns=1, overlap=2).items.first()
    asked = ReviewItem.objects.select_related("queue__rubric", "run")
    sent = [partial(reviewed.answer, asked.get(pk=item.pk), person) for person in everybody]
    found = at_once(*sent, refused=slots.SlotUnavailable)

    assert sum(isinstance(one, slots.SlotUnavailable) for one in found) == 4
    assert item.answers.count() == 2
    assert item.slots.answered().count() == 2
