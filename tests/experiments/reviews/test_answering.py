"""Answers: once, in versions that stay; absent scores stay absent; comments at their words; corrections."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.translation import override

from experiments.models import FlagDeed, Judgment, Message, ReviewAnswer, ReviewSlot
from experiments.models.reviewed import NeverChanged
from experiments.reviews import answers, flagging, reading, rubrics, slots
from experiments.reviews.content import Correction, NotTaken, Remark
from experiments.reviews.spans import pieces, sentences
from tests.cases import each_case
from tests.experiments.reviews import reviewed

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(alice, bob, dora):
    return reviewed.queue(alice, bob, dora, is_blind=False)


@pytest.fixture
def item(queue, bob):
    return slots.next_item(queue, by=bob)


def test_the_same_answer_sent_twice_is_one(item, bob):
    first = reviewed.answer(item, bob)

    assert reviewed.answer(item, bob) == first
    assert ReviewAnswer.objects.count() == 1


def test_a_correction_is_a_version_and_the_old_one_stays(item, bob):
    first = reviewed.answer(item, bob, 0.5)
    second = reviewed.answer(item, bob, -1)

    assert (first.version, second.version) == (1, 2)
    assert slots.place_of(item, bob).answer == second
    assert ReviewAnswer.objects.get(version=1).scores == {"cooperation": 0.5}


def test_a_version_is_never_changed(item, bob):
    first = reviewed.answer(item, bob)
    first.note = "Changed."

    with pytest.raises(NeverChanged):
        first.save()
    with pytest.raises(NeverChanged):
        ReviewAnswer.objects.update(note="Changed.")


def test_what_is_not_scored_is_absent_and_cannot_say_is_no_number(item, bob):
    said = reviewed.answer(item, bob, None, unsaid={"cooperation": "They never meet."})

    assert said.scores == {}
    assert said.unsaid == {"cooperation": "They never meet."}


@each_case(
    ("fields", "where"),
    [
        ({"cooperation": 0.3}, "cooperation"),
        ({"cooperation": float("nan")}, "cooperation"),
        ({"cooperation": None}, ""),
        ({"unsaid": {"cooperation": "why"}}, "cooperation"),
        ({"cooperation": None, "unsaid": {"cooperation": " "}}, "cooperation"),
        ({"labels": {"conduct": ["nonsense"]}}, "conduct"),
        ({"labels": {"mood": ["good"]}}, "mood"),
        ({"flags": ("invented",)}, "flags"),
        ({"note": "a\0b"}, "note"),
    ],
)
def test_what_cannot_be_taken_is_refused_by_its_field(item, bob, fields, where):
    with pytest.raises(NotTaken) as refused:
        reviewed.answer(item, bob, **fields)

    assert list(refused.value.errors) == [where]
    assert not ReviewAnswer.objects.exists()


def test_a_late_answer_is_kept_while_there_is_room(item, bob):
    ReviewSlot.objects.update(until=timezone.now() - timedelta(minutes=1))

    assert reviewed.answer(item, bob).version == 1


def test_a_late_answer_is_refused_when_somebody_else_has_the_place(item, bob, dora):
    ReviewSlot.objects.filter(item=item).update(until=timezone.now() - timedelta(minutes=1))
    slots.claim(item, by=dora)

    with pytest.raises(slots.Taken):
        reviewed.answer(item, bob)
    assert not item.answers.exists()


def test_a_late_answer_takes_another_free_place(alice, bob, dora):
    queue = reviewed.queue(alice, bob, dora, overlap=2)
    item = slots.next_item(queue, by=bob)
    ReviewSlot.objects.filter(item=item).update(until=timezone.now() - timedelta(minutes=1))
    slots.claim(item, by=dora)

    assert reviewed.answer(item, bob).version == 1


def comment(item, start=4, end=29, text="Too vague."):
    return Remark(item.message_id, start, end, text)


def test_a_comment_keeps_its_place_and_its_words(item, bob):
    said = reviewed.answer(item, bob, remarks=(comment(item),))

    found = said.comments.get()
    assert found.quote == item.message.text[4:29] == "First we share the panels"
    assert reading.place_of(found).start == 4


def test_a_comment_is_found_again_where_its_words_stand_once(item, bob):
    said = reviewed.answer(item, bob, remarks=(comment(item),))
    Message.objects.filter(pk=item.message_id).update(text=f"New. {item.message.text}")

    span = reading.place_of(said.comments.select_related("message").get())

    assert (span.start, span.words) == (9, "First we share the panels")


@pytest.mark.parametrize("text", ["Something else.", "First we share the panels. First we share the panels."])
def test_a_comment_is_shown_at_no_wrong_place(item, bob, text):
    said = reviewed.answer(item, bob, remarks=(comment(item),))
    Message.objects.filter(pk=item.message_id).update(text=text)

    assert reading.place_of(said.comments.select_related("message").get()) is None
    assert reading.lost(said) == list(said.comments.all())
    assert reading.fields_of(said)["place"] == []


@each_case(("start", "end"), [(0, 10_000), (9, 9), (9, 3)])
def test_a_comment_beside_the_text_is_refused(item, bob, start, end):
    with pytest.raises(NotTaken):
        reviewed.answer(item, bob, remarks=(comment(item, start, end),))


def test_a_comment_on_another_runs_message_is_refused(item, bob, alice):
    other = reviewed.record(alice).run.messages.first()

    with pytest.raises(NotTaken):
        reviewed.answer(item, bob, remarks=(Remark(other.pk, 0, 3, "x"),))


def test_places_count_characters_whatever_they_are():
    text = "𝒜 👩‍🚀 said. 很好。Next\r\nline"

    assert "".join(piece.words for piece in pieces(text)) == text
    assert all(text[one.start : one.end] == one.words for one in sentences(text))
    assert [one.words for one in sentences(text)] == ["𝒜 👩‍🚀 said.", "很好。", "Next", "line"]


def test_a_judges_score_is_corrected_with_a_reason_and_stays(item, bob):
    judgment = Judgment.objects.get(turn=item.message.turn, subject=item.message.seat)
    wanted = Correction(judgment.pk, "cooperation", -0.5, "It threatens.")
    said = reviewed.answer(item, bob, corrections=(wanted,))

    assert said.corrections.get().score == -0.5
    assert Judgment.objects.get(pk=judgment.pk).scores["cooperation"] == 0.4


@each_case("wrong", [{"score": 3.0}, {"reason": ""}, {"measure": "charm"}])
def test_a_correction_that_cannot_be_is_refused(item, bob, wrong):
    judgment = Judgment.objects.get(turn=item.message.turn, subject=item.message.seat)
    given = {"measure": "cooperation", "score": -0.5, "reason": "It threatens.", **wrong}

    with pytest.raises(NotTaken) as refused:
        reviewed.answer(item, bob, corrections=(Correction(judgment.pk, **given),))
    assert list(refused.value.errors) == ["corrections"]


def test_in_a_blind_queue_scores_are_corrected_after_they_were_shown_and_the_version_says_so(alice, bob):
    queue = reviewed.queue(alice, bob)
    item = slots.next_item(queue, by=bob)
    judgment = Judgment.objects.get(turn=item.message.turn, subject=item.message.seat)
    wanted = (Correction(judgment.pk, "cooperation", -0.5, "It threatens."),)
    with pytest.raises(NotTaken):
        reviewed.answer(item, bob, corrections=wanted)
    assert not reviewed.answer(item, bob).is_informed

    assert not slots.reveal(queue.items.last(), by=bob)
    assert slots.reveal(item, by=bob)
    assert reviewed.answer(item, bob, corrections=wanted).is_informed


def test_a_reviewers_flags_stand_on_the_message(item, bob):
    reviewed.answer(item, bob, flags=("refusal",))

    message = Message.objects.get(pk=item.message_id)
    assert message.flags == ["refusal"]
    assert message.flag_deeds.get().by == bob


def test_why_a_reviewers_flag_stands_is_said_in_the_language_of_whoever_reads_it(item, bob):
    with override("zh-hans"):
        reviewed.answer(item, bob, flags=("refusal",))

    assert FlagDeed.objects.get().reason == flagging.IN_A_REVIEW
    assert [deed.reason for deed in flagging.history(item.message)] == ["in a review"]
    with override("zh-hans"):
        assert [deed.reason for deed in flagging.history(item.message)] == ["在评审中"]


def test_a_draft_is_kept_until_the_answer_is_sent(item, bob):
    answers.keep_draft(item, {"note": ["So far."]}, by=bob)
    assert answers.draft_of(item, bob) == {"note": ["So far."]}

    reviewed.answer(item, bob)

    assert answers.draft_of(item, bob) == {}


def test_the_form_of_an_answer_says_what_the_answer_says(item, bob):
    said = reviewed.answer(
        item, bob, 0.5, unsaid={"deception": "no facts"}, labels={"conduct": ["offer"]}, remarks=(comment(item),)
    )

    fields = reading.fields_of(said)
    again = reading.read(fields, rubrics.of(item.queue.rubric))

    assert again.fingerprint == said.fingerprint
