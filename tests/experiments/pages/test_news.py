"""For a page whose WebSocket is blocked: what has happened since, over plain HTTP."""

import pytest
from django.urls import reverse

from experiments.live import news
from experiments.models import Call, Event, Step

pytestmark = pytest.mark.django_db


def asked(browser, run, after=0):
    return browser.get(reverse("run-news", args=[run.pk]), {"after": after})


def test_it_gives_every_event_with_its_fragment_in_order(browser, played):
    run = played(max_turns=1)

    found = asked(browser, run).json()

    assert [envelope["seq"] for envelope in found["events"]] == list(range(1, run.last_seq + 1))
    assert {**found["events"][1], "html": ...} == {**Event.objects.get(run=run, seq=2).envelope, "html": ...}
    assert all(f'id="message-{pk}"' in str(found["events"]) for pk in run.messages.values_list("pk", flat=True))
    assert (found["partials"], found["more"]) == ([], False)


def test_it_gives_only_what_is_not_known_yet(browser, played):
    run = played(max_turns=1)

    assert [e["seq"] for e in asked(browser, run, after=run.last_seq - 2).json()["events"]] == [
        run.last_seq - 1,
        run.last_seq,
    ]
    assert asked(browser, run, after=run.last_seq).json()["events"] == []


def test_many_events_come_in_portions_and_it_says_that_there_are_more(browser, played, monkeypatch):
    run = played(max_turns=1)
    monkeypatch.setattr(news, "ROWS", 3)

    found, seen = asked(browser, run).json(), 0
    while found["more"]:
        seen += len(found["events"])
        found = asked(browser, run, after=seen).json()

    assert seen + len(found["events"]) == run.last_seq


def test_it_gives_the_text_that_is_being_written(browser, arena, start):
    run = start(arena())
    step = Step.objects.create(run=run, key="turn/1/A", kind="ask", purpose="reply", seat="A", turn=1)
    model = run.experiment.participants.get(seat="A").model
    call = Call.objects.create(run=run, step=step, attempt=1, model=model, request={}, text="I of", reasoning="They")

    [partial] = asked(browser, run).json()["partials"]
    assert (partial["call"], partial["seat"], partial["turn"]) == (str(call.pk), "A", 1)
    assert (partial["offset"], partial["text"], partial["reasoning_offset"], partial["reasoning"]) == (
        0,
        "I of",
        0,
        "They",
    )


def test_fragments_are_in_the_language_of_the_page(browser, played):
    run = played(max_turns=1)
    browser.post("/language/", {"language": "zh-hans"})

    assert "Turn 1" not in str(asked(browser, run).json()["events"])


@pytest.mark.parametrize("after", ["x", "-1", "1.5", "٣", "9" * 19, "%00"])
def test_a_starting_point_that_is_no_number_is_refused(browser, arena, start, after):
    assert asked(browser, start(arena()), after=after).status_code == 400


def test_a_stranger_gets_none(charlies, visitor, arena, start):
    run = start(arena())

    assert asked(charlies, run).status_code == 404
    assert asked(visitor, run).status_code == 302


def test_it_takes_as_few_queries_however_much_has_happened(browser, played, django_assert_max_num_queries):
    for turns in (1, 5):
        run = played(max_turns=turns)
        with django_assert_max_num_queries(8):
            asked(browser, run)
