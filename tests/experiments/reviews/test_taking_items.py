"""Who gets which item: nobody twice, never two at one place, and exactly as many people as the queue asks for."""

import threading
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone

from experiments.models import ReviewItem, ReviewQueue, ReviewSlot
from experiments.refusals import NotAllowed, NotOffered
from experiments.reviews import queues, slots
from tests.experiments.reviews import reviewed

PEOPLE = 20
pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(alice, bob, dora):
    return reviewed.queue(alice, bob, dora)


def expire(item):
    ReviewSlot.objects.filter(item=item).update(until=timezone.now() - timedelta(seconds=1))


def test_the_next_item_is_held_and_offered_again_until_it_is_answered(queue, bob):
    first = slots.next_item(queue, by=bob)

    assert slots.next_item(queue, by=bob) == first
    assert slots.place_of(first, bob).until > timezone.now()


def test_two_people_get_two_items_where_one_each_is_wanted(queue, bob, dora):
    assert slots.next_item(queue, by=bob) != slots.next_item(queue, by=dora)


def test_the_item_with_the_fewest_answers_comes_first(alice, bob, dora):
    queue = reviewed.queue(alice, bob, dora, overlap=2)
    first = slots.next_item(queue, by=bob)
    reviewed.answer(first, bob)

    assert slots.next_item(queue, by=dora).number == first.number + 1


def test_an_answered_item_is_not_offered_again(queue, bob):
    seen = []
    while item := slots.next_item(queue, by=bob):
        seen.append(item.number)
        reviewed.answer(item, bob)

    assert seen == [1, 2, 3, 4]


def test_an_expired_hold_goes_to_somebody_else(queue, bob, dora):
    item = slots.next_item(queue, by=bob)
    expire(item)

    assert slots.next_item(queue, by=dora) == item
    assert slots.place_of(item, bob) is None


def test_whoever_goes_on_working_keeps_an_expired_hold_that_nobody_took(queue, bob, dora):
    item = slots.next_item(queue, by=bob)
    expire(item)

    assert slots.renew(item, by=bob)
    assert slots.next_item(queue, by=dora) != item


def test_what_is_given_back_is_free_at_once(queue, bob, dora):
    item = slots.next_item(queue, by=bob)

    assert slots.release(item, by=bob)
    assert not slots.release(item, by=bob)
    assert slots.next_item(queue, by=dora) == item


def test_what_somebody_passes_over_is_offered_to_others_alone(queue, bob, dora):
    item = slots.next_item(queue, by=bob)
    slots.skip(item, by=bob, reason="I know the author.")

    assert slots.next_item(queue, by=bob) != item
    assert slots.next_item(queue, by=dora) == item
    with pytest.raises(NotOffered):
        slots.skip(item, by=dora, reason="  ")


def test_a_taken_item_cannot_be_claimed(queue, bob, dora):
    item = slots.next_item(queue, by=bob)

    with pytest.raises(slots.Taken):
        slots.claim(item, by=dora)
    assert slots.claim(item, by=bob).holder == bob


def test_nobody_takes_anything_in_a_closed_queue_or_as_a_stranger(queue, alice, bob, charlie):
    with pytest.raises(NotAllowed):
        slots.next_item(queue, by=charlie)
    queues.set_open(queue, by=alice, is_open=False)
    with pytest.raises(NotAllowed, match="closed"):
        slots.next_item(queue, by=bob)


def test_taking_back_gives_the_last_item_again_and_keeps_its_version(queue, bob):
    first = slots.next_item(queue, by=bob)
    reviewed.answer(first, bob)
    second = slots.next_item(queue, by=bob)
    reviewed.answer(second, bob)

    assert slots.undo(queue, by=bob) == second
    assert slots.place_of(second, bob).answer is None
    assert reviewed.answer(second, bob, -0.5).version == 2
    assert [one.version for one in second.answers.all()] == [1, 2]


def test_there_is_nothing_to_take_back_at_first(queue, bob):
    assert slots.undo(queue, by=bob) is None


def test_whoever_is_no_member_any_more_holds_nothing(queue, alice, bob, dora):
    item = slots.next_item(queue, by=bob)

    queues.assign(queue, by=alice, members=["dora"])

    assert item.slots.filter(holder=bob).count() == 0
    assert not ReviewItem.objects.visible_to(bob).exists()


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("overlap", [1, 3])
def test_twenty_people_at_the_same_moment_never_hold_one_place(alice, overlap):
    everybody = [get_user_model().objects.create_user(f"person-{n}", role="reviewer") for n in range(PEOPLE)]
    queue = reviewed.queue(alice, *everybody, turns=5, overlap=overlap)
    together, found = threading.Barrier(PEOPLE), [None] * PEOPLE

    def work(place):
        person = everybody[place]
        mine = ReviewQueue.objects.get(pk=queue.pk)
        together.wait()
        try:
            found[place] = slots.next_item(mine, by=person)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(place,)) for place in range(PEOPLE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    places = ReviewSlot.objects.filter(item__queue=queue)
    got = [item for item in found if item]
    assert len(got) == min(PEOPLE, 10 * overlap)
    assert places.filter(holder__isnull=False).count() == len(got)
    assert max(found.count(item) for item in got) <= overlap
    assert len(set(places.filter(holder__isnull=False).values_list("item", "holder"))) == len(got)


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_people_who_answer_at_the_same_moment_are_never_more_than_wanted(alice):
    everybody = [get_user_model().objects.create_user(f"person-{n}", role="reviewer") for n in range(8)]
    queue = reviewed.queue(alice, *everybody, turns=1, overlap=2)
    item = queue.items.first()
    together, found = threading.Barrier(8), [None] * 8

    def work(place):
        mine = ReviewItem.objects.select_related("queue__rubric", "run").get(pk=item.pk)
        together.wait()
        try:
            found[place] = reviewed.answer(mine, everybody[place])
        except slots.Taken as error:
            found[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(isinstance(one, slots.Taken) for one in found) == 6
    assert item.answers.count() == 2
    assert item.slots.answered().count() == 2
