"""Answers: once, in versions that stay, with comments and corrections; and how far those who gave them agree."""

import csv
import io
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.translation import override

from accounts.errors import Invalid
from experiments.models import FlagDeed, Judgment, Message, ReviewAnswer, ReviewSlot
from experiments.models.reviewed import NeverChanged
from experiments.review import agreement, answer_form, answers, flagging, queues, rubrics, slots
from experiments.review.answers import Correction, Remark
from experiments.review.coefficients import Asked
from experiments.review.spans import pieces, sentences
from leaderboard.ratings.values import Reason, Undefined
from tests.cases import each_case
from tests.experiments.reviews import reviewed
from tests.fixtures import signed_in


@pytest.fixture
def queue(alice, bob, dora):
    return reviewed.queue(alice, bob, dora, is_blind=False)


@pytest.fixture
def item(queue, bob):
    return slots.next_item(queue, by=bob)


def test_the_same_answer_sent_twice_is_one_and_another_is_a_version_beside_the_old_one(item, bob):
    answers.keep_draft(item, {"note": ["So far."]}, by=bob)
    assert answers.draft_of(item, bob) == {"note": ["So far."]}
    said = {"cooperation": None, "unsaid": {"cooperation": "They never meet."}}
    first = reviewed.answer(item, bob, **said)

    assert (first.scores, first.unsaid) == ({}, {"cooperation": "They never meet."})
    assert reviewed.answer(item, bob, **said) == first
    assert ReviewAnswer.objects.count() == 1
    assert answers.draft_of(item, bob) == {}
    second = reviewed.answer(item, bob, -1)
    assert (first.version, second.version) == (1, 2)
    assert slots.place_of(item, bob).answer == second
    assert ReviewAnswer.objects.get(version=1).unsaid == first.unsaid
    first.note = "Changed."
    with pytest.raises(NeverChanged):
        first.save()
    with pytest.raises(NeverChanged):
        ReviewAnswer.objects.update(note="Changed.")


def test_what_cannot_be_taken_or_is_beside_the_text_or_on_another_run_is_refused_by_its_field(item, bob, alice):
    elsewhere = reviewed.record(alice).run.messages.first().pk
    beside = [comment(item, 0, 10_000), comment(item, 9, 9), comment(item, 9, 3), Remark(elsewhere, 0, 3, "x")]
    for fields, where in (
        ({"cooperation": 0.3}, "cooperation"),
        ({"cooperation": float("nan")}, "cooperation"),
        ({"cooperation": None}, "answer"),
        ({"unsaid": {"cooperation": "why"}}, "cooperation"),
        ({"cooperation": None, "unsaid": {"cooperation": " "}}, "cooperation"),
        ({"labels": {"conduct": ["nonsense"]}}, "conduct"),
        ({"labels": {"mood": ["good"]}}, "mood"),
        ({"flags": ("invented",)}, "flags"),
        ({"note": "a\0b"}, "note"),
        *(({"remarks": (remark,)}, "comments") for remark in beside),
    ):
        with pytest.raises(Invalid) as refused:
            reviewed.answer(item, bob, **fields)
        assert list(refused.value.errors) == [where], fields
    assert not ReviewAnswer.objects.exists()


@each_case(("is_taken", "overlap"), [(False, 1), (True, 1), (True, 2)])
def test_a_late_answer_is_taken_while_there_is_room_for_it(alice, bob, dora, is_taken, overlap):
    queue = reviewed.queue(alice, bob, dora, overlap=overlap)
    item = slots.next_item(queue, by=bob)
    ReviewSlot.objects.filter(item=item).update(until=timezone.now() - timedelta(minutes=1))
    if is_taken:
        slots.claim(item, by=dora)

    if is_taken and overlap == 1:
        with pytest.raises(slots.SlotUnavailable):
            reviewed.answer(item, bob)
        assert not item.answers.exists()
    else:
        assert reviewed.answer(item, bob).version == 1


def comment(item, start=4, end=29, text="Too vague."):
    return Remark(item.message_id, start, end, text)


def test_the_form_says_what_the_answer_says_and_a_comment_is_found_again_where_its_words_stand_once(item, bob):
    beside = {"unsaid": {"deception": "no facts"}, "labels": {"conduct": ["offer"]}}
    said = reviewed.answer(item, bob, remarks=(comment(item),), **beside)
    again = answer_form.read(answer_form.fields_of(said), rubrics.of(item.queue.rubric))
    assert again.fingerprint == said.fingerprint
    found = said.comments.select_related("message").get()
    assert found.quote == item.message.text[4:29] == "First we share the panels"
    assert answer_form.place_of(found).start == 4

    Message.objects.filter(pk=item.message_id).update(text=f"New. {item.message.text}")
    span = answer_form.place_of(said.comments.select_related("message").get())
    assert (span.start, span.words) == (9, "First we share the panels")

    for text in ("Something else.", "First we share the panels. First we share the panels."):
        Message.objects.filter(pk=item.message_id).update(text=text)
        assert answer_form.place_of(said.comments.select_related("message").get()) is None
        assert answer_form.lost(said) == list(said.comments.all())
        assert answer_form.fields_of(said)["place"] == []


def test_places_count_characters_whatever_they_are():
    text = "𝒜 👩‍🚀 said. 很好。Next\r\nline"

    assert "".join(piece.words for piece in pieces(text)) == text
    assert all(text[one.start : one.end] == one.words for one in sentences(text))
    assert [one.words for one in sentences(text)] == ["𝒜 👩‍🚀 said.", "很好。", "Next", "line"]
    assert [one.words for one in sentences("a" * 590 + " " + "b" * 20)] == ["a" * 590, "b" * 20]


def test_a_judges_score_is_corrected_with_a_reason_once_it_was_shown_and_stays_beside_the_mean(alice, bob, item):
    judgment = Judgment.objects.get(turn=item.message.turn, subject=item.message.seat)
    right = {"measure": "cooperation", "score": -0.5, "reason": "It threatens."}
    wanted = (Correction(judgment.pk, **right),)
    for wrong in ({"score": 3.0}, {"reason": ""}, {"measure": "charm"}):
        with pytest.raises(Invalid) as refused:
            reviewed.answer(item, bob, corrections=(Correction(judgment.pk, **right | wrong),))
        assert list(refused.value.errors) == ["corrections"]
    said = reviewed.answer(item, bob, corrections=wanted)
    assert said.corrections.get().score == -0.5
    assert Judgment.objects.get(pk=judgment.pk).scores["cooperation"] == 0.4
    other = slots.next_item(item.queue, by=bob)
    of_other = Judgment.objects.get(turn=other.message.turn, subject=other.message.seat)
    reviewed.answer(other, bob, corrections=(Correction(of_other.pk, "cooperation", 1.0, "It shares."),))
    judge = agreement.report(item.queue).measures[0].judge
    assert (judge.corrections, judge.corrected) == (2, 0.25)

    blind = reviewed.queue(alice, bob, played=False)
    item = blind.items.get(message=item.message)
    slots.claim(item, by=bob)
    with pytest.raises(Invalid):
        reviewed.answer(item, bob, corrections=wanted)
    assert not reviewed.answer(item, bob).is_informed
    assert not slots.reveal(blind.items.exclude(pk=item.pk).first(), by=bob)
    assert slots.reveal(item, by=bob)
    assert reviewed.answer(item, bob, corrections=wanted).is_informed


def test_a_reviewers_flag_stands_on_the_message_and_says_why_in_the_readers_language(item, bob):
    with override("zh-hans"):
        reviewed.answer(item, bob, flags=("refusal",))

    message, deed = Message.objects.get(pk=item.message_id), FlagDeed.objects.get()
    assert message.flags == ["refusal"]
    assert (deed.by, deed.reason) == (bob, flagging.IN_A_REVIEW)
    assert [deed.reason for deed in flagging.history(message)] == ["in a review"]
    with override("zh-hans"):
        assert [deed.reason for deed in flagging.history(message)] == ["在评审中"]


def test_a_queue_tells_how_far_people_and_the_judge_agree_without_answers_after_a_look_behind_once_it_is_closed(
    alice, bob, dora, read
):
    queue = reviewed.queue(alice, bob, dora, turns=3, overlap=2)
    for number, item in enumerate(queue.items.order_by("number")):
        score = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.0)[number]
        slots.claim(item, by=bob)
        reviewed.answer(item, bob, score)
        slots.claim(item, by=dora)
        reviewed.answer(item, dora, 0.0 if number == 5 else score)
    found = agreement.of(queue)
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

    item = queue.items.get(number=1)
    before = agreement.report(queue).measures[0].alpha
    slots.reveal(item, by=bob)
    assert reviewed.answer(item, bob, 1.0).is_informed
    assert agreement.report(queue).measures[0].alpha == before
    slots.undo(queue, by=dora)
    assert agreement.of(queue).measures[0].items == 5

    last = slots.place_of(queue.items.last(), bob)
    slots.reveal(last.item, by=bob)
    with pytest.raises(Invalid, match="new version"):
        slots.undo(queue, by=bob)
    assert not slots.release(last.item, by=bob)
    assert slots.place_of(last.item, bob).answer == last.answer, "nobody begins again after a look"

    browser, address = signed_in(bob), f"/review/{queue.pk}/agreement"
    assert browser.get(f"{address}/").status_code == 403
    queues.set_open(queue, by=alice, is_open=False)
    page = read(browser.get(f"{address}/")).text
    rows = list(csv.DictReader(io.StringIO(browser.get(f"{address}.csv").content.decode())))
    alpha = next(row for row in rows if (row["measure"], row["statistic"]) == ("cooperation", "krippendorff_alpha"))
    assert f"{float(alpha['value']):+.2f}" in page
    assert next(row for row in rows if row["measure"] == "deception")["undefined"] == "nothing_paired"


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
