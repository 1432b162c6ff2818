"""For a page whose WebSocket is blocked: what has happened since, over plain HTTP."""

import pytest
from django.urls import reverse

from experiments.live import news
from experiments.models import Call, Event, Step
from tests.cases import each_case

pytestmark = pytest.mark.django_db


def asked(browser, run, after=0):
    return browser.get(reverse("run-news", args=[run.pk]), {"after": after})


def test_it_gives_every_event_with_its_fragment_in_order(browser, played, monkeypatch):
    run = played(max_turns=1)
    found = asked(browser, run).json()

    assert [envelope["seq"] for envelope in found["events"]] == list(range(1, run.last_seq + 1))
    assert {**found["events"][1], "html": ...} == {**Event.objects.get(run=run, seq=2).envelope, "html": ...}
    assert all(f'id="message-{pk}"' in str(found["events"]) for pk in run.messages.values_list("pk", flat=True))
    assert (found["partials"], found["more"]) == ([], False)
    unknown = asked(browser, run, after=run.last_seq - 2).json()["events"]
    assert [event["seq"] for event in unknown] == [run.last_seq - 1, run.last_seq]
    assert asked(browser, run, after=run.last_seq).json()["events"] == []

    monkeypatch.setattr(news, "ROWS", 3)
    portions, seen = asked(browser, run).json(), 0
    while portions["more"]:
        seen += len(portions["events"])
        portions = asked(browser, run, after=seen).json()
    assert seen + len(portions["events"]) == run.last_seq

    browser.post("/language/", {"language": "zh-hans"})
    assert "Turn 1" not in str(asked(browser, run, after=seen).json()["events"]), "in the language of the page"


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


@each_case("after", ["x", "-1", "1.5", "٣", "9" * 19, "%00"])
def test_a_starting_point_that_is_no_number_is_refused(browser, arena, start, after):
    assert asked(browser, start(arena()), after=after).status_code == 400


def test_it_takes_as_few_queries_however_much_has_happened(browser, played, django_assert_max_num_queries):
    run = played(max_turns=3)
    with django_assert_max_num_queries(8):
        asked(browser, run)
