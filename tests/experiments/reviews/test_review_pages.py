"""The pages as plain forms: what a reviewer sees and sends without any script."""

import re

import pytest

from accounts.tokens import create_token
from experiments.models import ReviewAnswer, ReviewItem, ReviewQueue
from experiments.review import flagging, queues, slots
from tests.experiments.api.conftest import Api
from tests.experiments.reviews import reviewed
from tests.fixtures import signed_in


@pytest.fixture
def queue(alice, bob, dora):
    return reviewed.queue(alice, bob, dora, instructions="Be **strict**.")


@pytest.fixture
def bobs(bob):
    return signed_in(bob)


@pytest.fixture
def bobs_api(bob):
    return Api(create_token(bob))


def test_the_way_from_the_list_to_the_last_answer_back_and_on_to_the_next_queue(queue, alice, bob, bobs, read):
    assert "Panels" in read(bobs.get("/review/")).text
    page = bobs.post(f"/review/{queue.pk}/next/", follow=True)
    for number in range(1, 5):
        address = page.request["PATH_INFO"]
        assert read(page).find("h1")[0].text == f"Item {number}"
        page = bobs.post(address, {"score.cooperation": "0.5", "note": f"N{number}"}, follow=True)

    assert page.request["PATH_INFO"] == f"/review/{queue.pk}/"
    assert read(page).by_id("all-done").text_content().split()[:4] == ["All", "done.", "You", "answered"]
    back = bobs.post(f"/review/{queue.pk}/undo/")
    assert back["Location"] == address
    assert "N4" in bobs.get(address).content.decode()
    bobs.post(address, {"score.cooperation": "0.5", "note": "N4"})
    more = reviewed.queue(alice, bob)
    [on] = [one for one in read(bobs.get(queue.get_absolute_url())).find("a") if "primary" in one.get("class", "")]
    assert on.get("href") == more.get_absolute_url()
    assert ReviewAnswer.objects.count() == 5

    item = slots.next_item(more, by=bob)
    place = item.get_absolute_url()
    assert bobs.post(f"{place}draft/", {"note": "So far."}).status_code == 204
    bobs.post(f"{place}release/")
    assert slots.place_of(item, bob) is None
    assert "So far." in bobs.get(place).content.decode()
    bobs.post(f"{place}claim/")
    assert bobs.post(f"{place}skip/", {"reason": "I know them."})["Location"] != place


def test_a_comment_is_written_without_a_script_by_choosing_a_sentence(queue, alice, bob, bobs, read):
    item = slots.next_item(queue, by=bob)
    page = read(bobs.get(item.get_absolute_url()))
    [words] = [one for one in page.find("div") if one.get("data-message") == str(item.message_id)]
    assert "".join(piece.text_content() for piece in words) == item.message.text

    place = f"{item.message_id}:4:30"
    bobs.post(item.get_absolute_url(), {"score.cooperation": "1", "place": [place], "comment": ["Kind."]})
    comment = ReviewAnswer.objects.get().comments.get()
    assert (comment.quote, comment.text) == (item.message.text[4:30], "Kind.")
    assert 'data-comments="1"' in bobs.get(item.get_absolute_url()).content.decode()
    assert "Kind." in signed_in(alice).get(item.get_absolute_url()).content.decode(), "who looks after it reads it"


def test_what_cannot_be_taken_stays_on_the_page(queue, bob, dora, bobs):
    item = slots.next_item(queue, by=bob)
    answer = bobs.post(item.get_absolute_url(), {"score.cooperation": "unsaid", "why.cooperation": "", "note": "Kept."})
    assert answer.status_code == 422
    assert "Kept." in answer.content.decode()

    slots.release(item, by=bob)
    slots.claim(item, by=dora)
    late = bobs.post(item.get_absolute_url(), {"score.cooperation": "1", "note": "Kept."})
    assert late.status_code == 409, "it has no place any more"
    assert "Kept." in late.content.decode()
    told = bobs.post(f"{item.get_absolute_url()}claim/", headers={"Accept": "application/json"})
    assert (told.status_code, "Nothing is lost" in told.json()["problem"]) == (409, True)


def test_blind_nothing_tells_the_model_the_judge_or_flags_of_others_before_it_is_asked_for(
    queue, alice, bob, bobs, bobs_api
):
    item = slots.next_item(queue, by=bob)
    item.run.judgments.update(rationale="RATIONALE")
    secrets = ("A model", "B model", "judge model", "RATIONALE", "A crafted run", str(item.run_id))
    message = item.run.messages.get(pk=item.message_id)
    assert flagging.add_scanned(message, ["refusal"], scanner="flags 1") == ["refusal"]
    flagging.set_flag(message, "truncated", by=item.run.experiment.owner)

    def told():
        page = bobs.get(item.get_absolute_url()).content.decode()
        messages = bobs_api.get(f"review/items/{item.pk}/").json()["messages"]
        assert page.count('class="mark warning"') == sum(len(one["flags"]) for one in messages)
        return {one for one in secrets if one in page}, sorted(flag for one in messages for flag in one["flags"])

    assert told() == (set(), [])
    bobs.post(item.get_absolute_url(), {"score.cooperation": "1", "flag": ["truncated", "role_confusion"]})
    assert told() == (set(), ["role_confusion", "truncated"]), "one's own, also where others had said so before"
    bobs.post(f"{item.get_absolute_url()}reveal/")
    seen, flags = told()
    assert {"judge model", "RATIONALE", "A model"} <= seen
    assert flags == ["refusal", "role_confusion", "truncated"]
    refused = bobs.post(f"/review/{queue.pk}/undo/", follow=True)
    assert "have seen the judge" in refused.content.decode()
    assert slots.place_of(item, bob).answer

    assert bobs.get(f"/runs/{item.run_id}/").status_code == 404, "the right to review is no right to see the run"
    queues.set_open(queue, by=alice, is_open=False)
    assert [bobs.get(one.get_absolute_url()).status_code for one in (item, queue)] == [404, 200]


def test_a_queue_is_made_with_a_form(alice, bob, browser, read):
    reviewed.record(alice)
    fields = read(browser.get("/review/new/")).form(method="post", novalidate="")
    sent = {**fields, "name": "Mine", "rubric": reviewed.rubric().pk, "sample": "3", "seed": "4"}
    sent.pop("flags", None)
    refused = browser.post("/review/new/", {**sent, "members": "nobody-at-all"})
    assert refused.status_code == 422
    assert "There is no person with this name: nobody-at-all" in read(refused).text
    assert not ReviewQueue.objects.exists()

    answer = browser.post("/review/new/", {**sent, "members": "bob"})
    assert answer.status_code == 302, read(answer).text
    queue = ReviewQueue.objects.get()
    assert queue.items.count() == 3
    assert [one.user for one in queue.members.all()] == [bob]


def test_a_rubric_is_written_and_revised_and_queues_keep_theirs(browser, read):
    scale = {"title": "Wit", "name": "wit", "low": "1", "high": "5", "anchors": "1 = dull\n5 = bright"}
    fields = {"title": "Wit", **{f"scale-0-{name}": value for name, value in scale.items()}}
    for high in ("40", "many"):
        refused = browser.post("/review/rubrics/new/", {**fields, "scale-0-high": high})
        assert refused.status_code == 422
        assert f'value="{high}"' in refused.content.decode(), "what was typed stays"
    saved = browser.post("/review/rubrics/new/", fields)
    assert saved.status_code == 302, read(saved).text

    again = browser.post(f"{saved['Location']}edit/", {**fields, "scale-0-high": "7", "scale-0-anchors": ""})
    assert "version 2" in read(browser.get(again["Location"])).text
    assert "bright" in read(browser.get(saved["Location"])).text


def test_not_blind_the_judges_scores_stand_there_to_be_corrected_in_as_many_queries_for_many_as_for_few(
    alice, bob, django_assert_max_num_queries
):
    queue = reviewed.queue(alice, bob, turns=10, is_blind=False, over="transcripts")
    browser = signed_in(bob)
    item = ReviewItem.objects.get(queue=queue)

    with django_assert_max_num_queries(45):
        text = browser.get(item.get_absolute_url()).content.decode()
    assert len(re.findall(r'class="review-words"', text)) == 20

    judgment = item.run.judgments.get(turn=1, subject="A")
    assert f"correct.{judgment.pk}.cooperation" in text
    fields = {f"correct.{judgment.pk}.cooperation": "-0.5", f"because.{judgment.pk}.cooperation": "It threatens."}
    slots.claim(item, by=bob)
    browser.post(item.get_absolute_url(), {"note": "x", **fields})
    assert ReviewAnswer.objects.get().corrections.get().reason == "It threatens."


def test_items_are_read_blind_and_answered_until_nothing_is_left(queue, bobs_api):
    item = bobs_api.post(f"review/queues/{queue.pk}/next/").json()
    assert item["judgments"] is None
    assert {message["model"] for message in item["messages"]} == {None}
    assert item["held_until"]
    message = item["messages"][0]
    comment = {"message": message["id"], "start": 0, "end": 5, "text": "Short."}
    sent = {"scores": {"cooperation": 0.5}, "labels": {"conduct": ["offer"]}, "comments": [comment]}
    misspelt = bobs_api.post(f"review/items/{item['id']}/answer/", {**sent, "comments": [{**comment, "ends": 5}]})
    assert list(misspelt.json()["errors"]) == ["comments.0.ends"]
    first, again = (bobs_api.post(f"review/items/{item['id']}/answer/", sent) for _ in range(2))
    assert (first.status_code, first.json()) == (200, again.json())
    assert first.json()["comments"][0]["quote"] == message["text"][:5]
    assert ReviewAnswer.objects.count() == 1

    while (found := bobs_api.post(f"review/queues/{queue.pk}/next/")).status_code == 200:
        bobs_api.post(f"review/items/{found.json()['id']}/answer/", {"note": "Read."})
    assert found.status_code == 204
    assert bobs_api.post(f"review/queues/{queue.pk}/undo/").status_code == 200
    assert bobs_api.get(f"review/queues/{queue.pk}/").json()["answers"] == 3


def test_a_queue_is_made_and_listed_and_a_message_flagged(alice):
    api, run = Api(create_token(alice)), reviewed.record(alice).run
    made = api.post("review/queues/", {"name": "Mine", "rubric": str(reviewed.rubric().pk), "members": ["alice"]})
    assert (made.status_code, made.json()["items"]) == (201, 4)
    place = f"review/queues/{made.json()['id']}"
    assert [one["name"] for one in api.get("review/queues/").json()["results"]] == ["Mine"]
    assert len(api.get(f"{place}/items/").json()["results"]) == 4
    assert api.get(f"{place}/agreement/").json()["measures"][0]["alpha"]["value"] is None
    assert api.get(f"{place}/answers/").json()["results"] == []

    sent = {"message": str(run.messages.first().pk), "flag": "refusal", "reason": "Plainly."}
    assert api.post(f"runs/{run.pk}/flags/", sent).json()["flags"] == ["refusal"]
    assert api.get(f"runs/{run.pk}/flags/").json()[0]["history"][0]["by"] == "alice"
