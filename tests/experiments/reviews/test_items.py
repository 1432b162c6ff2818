"""What goes into a queue, once, by its filters; and who gets which item, as many people as the queue asks for."""

from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone
from django.utils.translation import override

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry, Membership, Project
from experiments.models import Experiment, Message, ReviewItem, ReviewQueue, ReviewSlot
from experiments.review import filling, queues, rubrics, slots
from tests.experiments.reviews import reviewed
from tests.rivals import at_once


def test_every_reply_is_an_item_with_as_many_places_as_people_and_filling_again_adds_what_is_new(
    alice, bob, people, monkeypatch
):
    reviewed.record(people("olga", "researcher"))
    queue = reviewed.queue(alice, overlap=3)

    replies = sorted(queue.items.values_list("message__seat", "message__turn"))
    assert replies == [("A", 1), ("A", 2), ("B", 1), ("B", 2)], "of ones own runs alone"
    assert [item.slots.count() for item in queue.items.all()] == [3] * 4
    with pytest.raises(Forbidden):
        reviewed.queue(bob, played=False)

    before = set(queue.items.values_list("pk", flat=True))
    reviewed.record(alice, 1)
    assert [queues.fill(queue, by=alice) for _time in range(2)] == [2, 0]
    assert before < set(queue.items.values_list("pk", flat=True))
    assert sorted(queue.items.values_list("number", flat=True)) == [1, 2, 3, 4, 5, 6]
    reviewed.record(alice, 1)
    monkeypatch.setattr(filling, "MOST_ITEMS", 7)
    assert queues.fill(queue, by=alice) == 1, "as there is room for"


def test_a_queue_that_cannot_be_is_refused_by_its_field_in_the_readers_language(alice):
    for field, value in (
        *(("lock_minutes", 0), ("lock_minutes", 100_000), ("overlap", 0), ("name", " ")),
        *(("filters", one) for one in ({"workflow": "chess"}, {"mood": 1})),
        ("filters", {"since": "2026-02-02", "until": "2026-01-01"}),
    ):
        with override("zh-hans"), pytest.raises(Invalid) as refused:
            reviewed.queue(alice, played=False, **{field: value})
        assert list(refused.value.errors) == [field], value
    assert [said for said in refused.value.errors["filters"] if said.isascii()] == [], "of the last one"


def test_messages_transcripts_and_judgments_are_filtered_by_what_belongs_to_them(alice):
    record = reviewed.record(alice)
    Message.objects.filter(turn=1, seat="A").update(flags=["refusal"])
    Message.objects.filter(turn=1, seat="B").update(finish_reason="length")
    record.judged(2, {"A": {"cooperation": -0.5}}, judge="second judge", confidence=0.9)
    reviewed.record(alice, 1)

    for filters, *wanted in (
        *(({}, 6, 2, 7), ({"workflow": "arena"}, 6, 2, 7), ({"workflow": "council"}, 0, 0, 0)),
        *(({"model": "lab/a"}, 3, 2, 7), ({"judge": "another"}, 0, 0, 0), ({"judge": "second judge"}, 1, 1, 1)),
        *(({"confidence_below": 0.8}, 6, 2, 6), ({"confidence_below": 0.5}, 0, 0, 0)),
        *(({"flags": [flag]}, 1, 1, 1) for flag in ("refusal", "truncated")),
        ({"disagreement": 0.2}, 1, 1, 2),
        ({"since": "2020-01-01", "until": "2020-02-01"}, 0, 0, 0),
        ({"sample": 3, "seed": 1}, 3, 2, 3),
    ):
        kinds = ("messages", "transcripts", "judgments")
        made = [reviewed.queue(alice, played=False, over=over, filters=filters) for over in kinds]
        assert [queue.items.count() for queue in made] == wanted, filters


def test_a_draw_is_the_same_for_the_same_seed_and_not_exceeded_by_filling_again(alice):
    reviewed.record(alice, 12)
    made = [reviewed.queue(alice, played=False, filters={"sample": 6, "seed": seed}) for seed in (1, 1, 2)]
    drawn = [set(queue.items.values_list("subject", flat=True)) for queue in made]
    assert drawn[0] == drawn[1] != drawn[2]

    reviewed.record(alice, 5)
    assert queues.fill(made[0], by=alice) == 0


def test_queues_of_the_lab_and_of_projects_are_made_by_who_leads_them_over_what_they_may_see(alice, bob, cora, people):
    seen, hidden = reviewed.record(alice, 1).run, reviewed.record(alice, 1).run
    shared = Experiment.objects.filter(pk=seen.experiment_id)
    shared.update(visibility="lab")
    with pytest.raises(Forbidden):
        reviewed.queue(alice, played=False, is_lab=True)

    queue = reviewed.queue(cora, played=False, is_lab=True)
    assert {item.run_id for item in queue.items.all()} == {seen.pk} != {hidden.pk}
    assert ReviewItem.objects.visible_to(bob).count() == ReviewItem.objects.visible_to(cora).count() == 2

    cora.role = cora.Role.RESEARCHER
    cora.save()
    assert not ReviewItem.objects.visible_to(cora).exists()
    shared.update(visibility="private")
    assert not ReviewItem.objects.visible_to(bob).exists()

    project = Project.objects.create(name="Panels")
    lead = people("lea", "researcher")
    Membership.objects.create(project=project, user=lead, role="lead")
    Membership.objects.create(project=project, user=bob, role="member")
    shared, private = reviewed.record(alice, 1).run, reviewed.record(alice, 1).run
    Experiment.objects.filter(pk=shared.experiment_id).update(project=project, visibility="project")
    Experiment.objects.filter(pk=private.experiment_id).update(project=project)
    with pytest.raises(Forbidden):
        reviewed.queue(bob, played=False, project=project)

    queue = reviewed.queue(lead, bob, played=False, project=project)
    assert {item.run_id for item in queue.items.all()} == {shared.pk}
    assert ReviewItem.objects.visible_to(bob).count() == 2
    assert ReviewItem.objects.visible_to(lead).exists()

    Membership.objects.filter(user=lead).delete()
    assert not ReviewItem.objects.visible_to(lead).exists()
    assert not ReviewQueue.objects.visible_to(lead).exists()
    assert ReviewItem.objects.visible_to(bob).filter(queue=queue).exists()


def test_what_is_wrong_with_a_rubric_is_said_in_the_readers_language(alice):
    warmth = {"name": "warmth", "title": "Warmth", "low": 0, "high": 2}
    no_number = {"scales": [{**warmth, "name": "Warmth", "low": "x"}]}
    for content in (
        {"scales": [{**warmth, "high": 40}]},
        {"scales": [{**warmth, "anchors": {"9": "x"}}]},
        no_number,
        {"scales": [{**warmth, "high": 1}] * 2},
        {"labels": [{"name": "tone", "title": "Tone", "choices": []}]},
        {},
    ):
        with override("zh-hans"), pytest.raises(Invalid) as refused:
            rubrics.save(owner=alice, title="Mine", content=content)
        assert [said for said in refused.value.errors["content"] if said.isascii()] == [], content
    with pytest.raises(Invalid, match="scales 1 low: "):
        rubrics.save(owner=alice, title="Mine", content=no_number)


@pytest.fixture
def queue(alice, bob, dora):
    return reviewed.queue(alice, bob, dora)


def expire(item):
    ReviewSlot.objects.filter(item=item).update(until=timezone.now() - timedelta(seconds=1))


def test_items_are_held_offered_again_answered_one_after_the_other_and_taken_back(queue, alice, bob, dora):
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
        seen.append(item)
        reviewed.answer(item, bob)
    assert [one.number for one in seen] == [1, 2, 3, 4]
    assert slots.undo(queue, by=bob) == seen[-1], "the last is taken back"
    assert slots.place_of(seen[-1], bob).answer is None
    assert reviewed.answer(seen[-1], bob, -0.5).version == 2
    assert [one.version for one in seen[-1].answers.all()] == [1, 2]

    wanted_twice = reviewed.queue(alice, bob, dora, played=False, overlap=2)
    first = slots.next_item(wanted_twice, by=bob)
    reviewed.answer(first, bob)
    assert slots.next_item(wanted_twice, by=dora).number == first.number + 1, "that with the fewest answers"


def test_an_expired_hold_goes_to_somebody_else_unless_it_is_renewed_and_so_does_what_is_passed_over(queue, bob, dora):
    item = slots.next_item(queue, by=bob)
    expire(item)
    assert slots.renew(item, by=bob)
    assert slots.next_item(queue, by=dora) != item

    slots.release(slots.next_item(queue, by=dora), by=dora)
    expire(item)
    assert slots.next_item(queue, by=dora) == item
    assert slots.place_of(item, bob) is None
    with pytest.raises(Invalid):
        slots.skip(item, by=dora, reason="  ")
    slots.skip(item, by=dora, reason="I know the author.")
    assert slots.next_item(queue, by=dora) != item
    assert slots.next_item(queue, by=bob) == item


def test_nobody_holds_or_takes_anything_as_a_stranger_or_in_a_closed_queue(queue, alice, bob, dora):
    item = slots.next_item(queue, by=bob)
    queues.assign(queue, by=alice, members=["dora"])
    assert AuditEntry.objects.filter(action="shared").latest("pk").detail["members"] == ["dora"]
    assert not item.slots.filter(holder=bob).exists()
    assert not ReviewItem.objects.visible_to(bob).exists()
    with pytest.raises(Forbidden):
        slots.next_item(queue, by=bob)
    queues.set_open(queue, by=alice, is_open=False)
    for attempt in (lambda: slots.next_item(queue, by=dora), lambda: slots.reveal(item, by=dora)):
        with pytest.raises(Forbidden, match="closed"):
            attempt()


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
