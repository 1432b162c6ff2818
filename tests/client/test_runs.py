"""Runs played, read, steered, watched and taken home in this process; what is asked again, and what is no answer."""

import inspect
import itertools
import json
import time
from decimal import Decimal

import httpx
import pytest
from django.utils import timezone

from arena_lab import (
    Arena,
    AsyncArena,
    BadAnswer,
    Conflict,
    Invalid,
    NotFound,
    NothingOpen,
    NotSetUp,
    TooMany,
    Unreachable,
    questions,
)
from arena_lab.asking import get, retry_after
from arena_lab.following import ALARM_AFTER, Follower, Trouble, uses_socket
from arena_lab.records import Judgment, Run
from experiments.models import ProviderModel
from tests.client import conftest
from tests.client.conftest import IN_PROCESS, SLOW, Scripted, answer, begun, no_library, run_awaiting
from tests.experiments.scans.conftest import DEFINITION

NOBODYS = "01900000-0000-7000-8000-000000000000"


def test_a_run_is_played_and_everything_in_it_can_be_read(arena, monkeypatch, tmp_path):
    for model in ProviderModel.objects.all():
        model.prices.create(since=timezone.now(), input=Decimal("0.000001"), output=Decimal("0.000004"))
    run = arena.wait(begun(arena, judge=True, filter=True, max_turns=2))

    assert (run.state, run.stop_reason, run.turn) == ("completed", "max_turns", 2)
    assert run.metrics
    judgments = arena.runs.judgments(run).all()
    assert {judgment.subject for judgment in judgments} == {"A", "B"}
    assert all(isinstance(judgment, Judgment) and judgment.scores for judgment in judgments)
    assert run.cost > 0
    assert isinstance(run.cost, Decimal)
    assert sum(call.cost for call in arena.runs.calls(run)) == run.cost
    for rows in (arena.runs.ballots(run), arena.runs.battles(run), arena.runs.executions(run)):
        assert rows.all() == []

    monkeypatch.setattr(questions, "ROWS", 3)  # pages are turned by themselves
    messages = arena.runs.messages(run).all()
    assert [(message.seat, message.turn) for message in messages] == [("A", 1), ("B", 1), ("A", 2), ("B", 2)]
    assert all(message.usage.output_tokens > 0 and message.created.tzinfo for message in messages)

    assert "Share seven panels." in arena.runs.report(run, "md").text
    path = arena.runs.export(run, "jsonl").save(tmp_path)
    assert path.suffix == ".jsonl"
    assert all(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    with pytest.raises(Invalid, match="not offered"):
        arena.runs.export(run, "papyrus")

    assert {"sim/cooperative", SLOW} <= {model.slug for model in arena.models(available=True)}
    usage = arena.usage()
    assert usage.total.calls == sum(spent.calls for spent in usage.role) > 0
    assert arena.budgets().all() == []


def test_a_run_that_waits_is_answered_at_its_pause(arena):
    run = begun(arena, mode="manual", max_turns=2)
    heard = []
    for event in arena.watch(run):
        heard.append(event.seq)
        now = arena.runs.get(run)
        if now.waiting_for:
            arena.runs.say(now, action="end" if "end" in now.waiting_for.actions else "default")

    now = arena.runs.get(run)
    assert now.state == "stopped"
    assert heard == list(range(1, now.last_seq + 1))
    with pytest.raises(NothingOpen, match="waits for nobody"):
        arena.runs.say(run, "Hello?")
    with pytest.raises(Conflict):
        arena.runs.pause(run)
    assert arena.runs.stop(run).state == "stopped"


def test_a_branch_says_something_else_repeats_have_seeds_of_their_own_and_favorites_are_marked_once(arena):
    run = arena.wait(begun(arena, max_turns=2))
    first = arena.runs.messages(run).first()

    branch = arena.wait(arena.runs.branch(first, "Let us share them by need."))
    assert (branch.parent, branch.branched_from) == (run.id, first.id)
    assert arena.runs.messages(branch).first().text == "Let us share them by need."

    experiment = arena.experiments.get(run.experiment)
    assert [run.seed for run in arena.experiments.start(experiment, repeats=2, seed=70)] == [70, 71]

    marked = arena.favorites.mark("run", run)
    arena.favorites.mark("contestant", "model-1")
    assert arena.favorites.mark("run", run.id) == marked
    assert [(one.kind, one.key) for one in arena.favorites.list()] == [("contestant", "model-1"), ("run", run.id)]
    arena.favorites.unmark(marked)
    assert [one.kind for one in arena.favorites.list()] == ["contestant"]
    with pytest.raises(NotFound):
        arena.favorites.unmark(marked)


def away_at(monkeypatch, *times):
    """The platform cannot be reached when it is asked for the first, second … time, as they are given."""
    asked = itertools.count(1)

    def sometimes(transport, request):
        if next(asked) in times:
            raise httpx.ConnectError("nobody listens")
        return answer(transport, request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", sometimes)
    monkeypatch.setattr(conftest, "answer", sometimes)  # for those who await it


def test_every_event_comes_once_and_in_order_even_when_the_platform_was_away(arena, monkeypatch, token):
    run, troubles = begun(arena), []

    def on_trouble(said, seconds):
        troubles.append(said and seconds > 0)

    away_at(monkeypatch, 1, 4)
    seqs = [event.seq for event in arena.watch(run, on_trouble=on_trouble)]
    assert seqs == list(range(1, arena.runs.get(run).last_seq + 1))
    assert [event.seq for event in arena.watch(run, after=seqs[-3])] == seqs[-2:]
    assert list(arena.watch(run, after=seqs[-1])) == []
    with pytest.raises(NotFound):
        list(arena.watch(NOBODYS))

    async def heard():
        async with AsyncArena(IN_PROCESS, token) as awaiting:
            found = [event.seq async for event in awaiting.watch(run, on_trouble=on_trouble)]
            return found, [message.seat async for message in awaiting.runs.messages(run)]

    away_at(monkeypatch, 1, 3)
    assert run_awaiting(heard()) == (seqs, ["A", "B"])
    assert troubles == [True] * 4


def test_both_faces_of_the_client_can_do_the_same():
    def verbs(part):
        found = inspect.getmembers(type(part), inspect.isfunction)
        return {verb: list(inspect.signature(do).parameters) for verb, do in found if not verb.startswith("_")}

    one, other = Arena(IN_PROCESS, "a-token"), AsyncArena(IN_PROCESS, "a-token")
    assert verbs(one) == verbs(other)
    for name in ("experiments", "runs", "ladders", "datasets"):
        assert verbs(getattr(one, name)) == verbs(getattr(other, name)), name


@pytest.mark.django_db
def test_a_program_defines_an_instrument_scans_a_run_and_reads_what_was_found(arena, drive):
    saved = arena.instruments.save("Lies", DEFINITION, description="Who lies?")
    revised = arena.instruments.revise(saved, {**DEFINITION, "sees": {"reasoning": True}})
    assert [one.number for one in arena.instruments.versions(saved)] == [2, 1]
    with pytest.raises(Conflict):
        arena.instruments.revise(saved, DEFINITION)
    with pytest.raises(Invalid) as refused:
        arena.instruments.save("Lies", {"dimensions": []})
    assert "definition.dimensions" in refused.value.errors
    assert {one.title for one in arena.instruments.list()} >= {"Lies", "Refusal"}

    file = json.loads(arena.instruments.export(revised, 2).content)
    again = arena.instruments.save(file["title"], file["definition"])
    assert again.newest.digest == revised.newest.digest
    assert arena.instruments.archive(again).archived
    assert again.id not in {one.id for one in arena.instruments.list()}

    run = begun(arena, max_turns=1)
    drive()
    scan = arena.scan(revised.newest, [run], {"judge": "sim/neutral"}, title="Who lies?")
    drive()
    assert arena.experiments.campaign(scan).state == "completed"
    found = list(arena.annotations(experiment=scan, dimension="force"))
    messages = {message.id: message for message in arena.runs.messages(run) if message.seat in ("A", "B")}
    assert {one.message for one in found} == set(messages)
    assert {(one.instrument, one.version, one.judge) for one in found} == {(saved.id, revised.newest.id, "sim/neutral")}
    assert all(0 <= one.value <= 4 and one.unscored_reason == "" for one in found)
    lying = list(arena.annotations(run=run, found=True, dimension="lies"))
    assert all(one.value is True for one in lying)


NOTHING = {"next": None, "previous": None, "results": []}


def test_a_client_that_is_turned_away_waits_as_long_as_it_was_told():
    async def models_of(arena):
        async with arena:
            return await arena.models().all()

    for models in (
        lambda scripted: scripted.arena().models().all(),
        lambda scripted: run_awaiting(models_of(scripted.arena(AsyncArena))),
    ):
        scripted = Scripted().says(429, Retry_After="30").says(503).says(200, NOTHING)
        began = time.monotonic()
        assert models(scripted) == []
        assert 30 <= time.monotonic() - began < 60
        assert len(scripted.asked) == 3


def test_a_start_is_sent_again_under_the_same_key_and_anything_else_only_when_it_never_arrived():
    scripted = Scripted().says(503).breaks().says(201, {"runs": []})
    arena = scripted.arena()

    assert arena.experiments.start("an-id") == ()
    for key in (None, "mine", "mine"):
        arena.experiments.start("an-id", idempotency_key=key)
    first, second, third, other, *named = [request.headers.get("Idempotency-Key") for request in scripted.asked]
    assert first
    assert first == second == third != other
    assert named == ["mine", "mine"]

    for error, said, times in (
        (httpx.ReadError, "look before you repeat it", 1),
        (httpx.ConnectError, Scripted.url, 4),
    ):
        scripted = Scripted().breaks(error)
        with pytest.raises(Unreachable, match=said):
            scripted.arena().experiments.create("arena", {}, {})
        assert len(scripted.asked) == times


def test_the_time_to_wait_is_a_number_or_a_date_and_a_server_that_stays_away_is_given_up():
    for said, seconds in (("7", 7), ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("soon", None)):
        assert retry_after(httpx.Response(429, headers={"retry-after": said})) == seconds
    for odd in ("Mon, 1 Jan 0001 00:00:00 -0000", f"1 Jan {'9' * 30} 00:00:00 GMT"):
        assert not retry_after(httpx.Response(429, headers={"retry-after": odd}))

    trouble = Trouble(told=None)
    assert trouble.wait(TooMany(429, "Too Many Requests", "", retry_after=7)) == 7

    trouble.waited = ALARM_AFTER
    with pytest.raises(Unreachable, match="No answer for"):
        trouble.wait(Unreachable("gone"))


def test_a_refusal_is_not_repeated_and_it_gives_up_after_some_attempts_or_a_long_wait():
    scripted = Scripted().says(
        409, {"title": "T", "status": 409, "detail": "D.", "errors": {"cast": ["Choose a model."]}}
    )

    with pytest.raises(Conflict) as refused:
        scripted.arena().experiments.create("arena", {}, {})
    assert (refused.value.status, refused.value.title, refused.value.detail) == (409, "T", "D.")
    assert refused.value.errors == {"cast": ["Choose a model."]}
    assert len(scripted.asked) == 1

    for headers, times, seconds in (({}, 4, None), ({"Retry_After": "3600"}, 1, 3600)):
        scripted = Scripted().says(429, {"title": "T", "status": 429, "detail": "Wait a minute."}, **headers)
        with pytest.raises(TooMany, match="Wait a minute") as refused:
            scripted.arena().models().all()
        assert (refused.value.retry_after, len(scripted.asked)) == (seconds, times)


def test_the_token_is_sent_neither_where_a_redirect_points_nor_where_the_next_page_is_said_to_be():
    scripted = Scripted().says(302, Location="http://evil.example/")
    scripted.says(200, {"next": "http://evil.example/api/models/?cursor=abc", "results": []}).says(200, NOTHING)

    with pytest.raises(BadAnswer):
        scripted.arena().models().all()
    scripted.arena().models().all()
    assert {request.url.host for request in scripted.asked} == {"platform.test"}
    assert [request.url.params.get("cursor") for request in scripted.asked] == [None, None, "abc"]


def test_what_is_no_record_or_no_event_is_a_bad_answer_and_a_socket_that_is_wanted_needs_its_library(monkeypatch):
    for body in ("<html>", "[" * 100_000, "{}", '{"last_seq": 1' + "0" * 400 + "}"):
        response = httpx.Response(200, text=body, request=httpx.Request("GET", "http://platform.test/"))
        with pytest.raises(BadAnswer):
            get("runs/1/", Run).read(response)
    for text in ("hello", "null", "[]", "[" * 100_000, '{"type": "message_stream"}', '{"seq": null}'):
        with pytest.raises(BadAnswer):
            Follower().read(text)

    monkeypatch.setattr("arena_lab.following.import_module", no_library)
    assert (uses_socket(None), uses_socket(False)) == (False, False)
    with pytest.raises(NotSetUp, match="live"):
        uses_socket(True)
