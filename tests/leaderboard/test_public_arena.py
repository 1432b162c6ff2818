"""The public arena: a visitor asks, votes without names and then sees them; limits, failures, what is published; over a
WebSocket both answers as they come, to who asked and to nobody else.
"""

import json
import re
from decimal import Decimal

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.db import connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from arenasite.asgi import application
from experiments.models import Battle, Budget, Call, Dataset, Experiment, Output, PairCount, ProviderModel, Step
from leaderboard.arena import battles, live, opening
from leaderboard.models import ArenaBattle, Ladder, PublicArena
from tests.fixtures import add_model, signed_in

LEFT, RIGHT = "sim/cooperative:first=0:tps=0:words=31", "sim/competitive:first=0:tps=0:words=37"
CANARY = "a heron in the reeds"
ARENA = "/public-arena/"
over_sockets = pytest.mark.django_db(transaction=True)


@pytest.fixture
def open_arena(provider, admin, woken_runs):
    def opened(*models, **settings):
        chosen = [add_model(one) for one in models or (LEFT, RIGHT)]
        usual = {"daily_cost": Decimal(5), "battles_per_hour": 20, "longest_prompt": 200, "is_moderated": True}
        unknown = {"allows_unknown_prices": True}
        return opening.configure(by=admin, is_open=True, models=chosen, **{**usual, **unknown, **settings})

    return opened


def ask(visitor, prompt=CANARY, **more):
    """The address of the battle that a prompt begins."""
    answer = visitor.post(ARENA, {"prompt": prompt, **more})
    assert answer.status_code == 303, answer.content.decode()
    return answer["Location"]


def names_in(answer):
    """Those of models and seats in all that a visitor is sent: headers, cookies, content."""
    told = "\n".join([*map(" ".join, answer.items()), answer.cookies.output(), answer.content.decode()])
    cast = PublicArena.load().experiment.participants.select_related("model")
    names = {name for one in cast for name in (one.model.slug, one.model.label, one.seat)}
    return sorted(name for name in names if name in told)


def test_a_visitor_asks_votes_and_then_sees_the_names_and_the_board(open_arena, drive):
    open_arena()
    visitor, other = Client(), Client()
    address = ask(visitor)
    news = f"{address}news/"
    early = visitor.post(address, {"choice": "first"}, follow=True)
    assert "once both answers are there" in early.content.decode()
    assert (visitor.get(news).json()["state"], Battle.objects.count()) == ("answering", 0)
    shown = [visitor.get(address)]
    drive()

    shown += [visitor.get(address), visitor.get(news), visitor.get(ARENA)]
    assert [names_in(page) for page in shown] == [[]] * 4
    told_now = shown[2].json()
    assert {key for side in told_now["sides"] for key in side} | set(told_now) == {"state", "sides", "text", "html"}
    assert [told_now["state"], *(side["state"] for side in told_now["sides"])] == ["ready"] * 3
    run = ArenaBattle.objects.get().run
    hidden = (address, news, f"/runs/{run.pk}/", f"/api/runs/{run.pk}/", f"/api/runs/{run.pk}/calls/")
    assert {other.get(one).status_code for one in hidden} <= {302, 401, 404}
    assert {visitor.get(one).status_code for one in hidden[2:]} <= {302, 401, 404}

    assert visitor.post(address, {"choice": "first"}).status_code == 303
    second = visitor.post(address, {"choice": "second"}, follow=True).content.decode()
    assert "Your first vote counts" in second
    assert other.post(address, {"choice": "tie"}).status_code == 404
    asked, counted = ArenaBattle.objects.get(), Battle.objects.get()
    assert (asked.choice, counted.shown_left_first, counted.ballot) == ("first", asked.shown_left_first, asked.ballot)
    assert (counted.winner, counted.void_reason) == ("left" if asked.shown_left_first else "right", "")
    assert set(names_in(visitor.get(address))) >= {LEFT, RIGHT}
    ladder = Ladder.objects.get(board=counted.board)
    assert LEFT in other.get(ladder.get_absolute_url()).content.decode()
    assert CANARY not in other.get(reverse("battle", args=[counted.pk])).content.decode()


def test_a_failed_answer_ends_the_battle_and_a_vote_on_one_that_names_its_model_does_not_count(open_arena, drive):
    open_arena()
    visitor = Client()
    address = ask(visitor)
    drive()
    Output.objects.filter(contestant__name=LEFT).update(text=f"I am {LEFT}.")
    assert "does not count" in visitor.post(address, {"choice": "tie"}, follow=True).content.decode()
    voted = Battle.objects.get()
    assert (voted.winner, PairCount.objects.filter(board=voted.board).count()) == ("tie", 0)
    assert voted.void_reason

    open_arena(LEFT, "sim/neutral:first=0:fail=401")
    address = ask(visitor, "<script>alert(1)</script>\n{{ 7|add:1 }}")
    drive()
    page = visitor.get(address).content.decode()
    assert all(words in page for words in ("A model gave no answer", "Try again", "&lt;script&gt;alert"))
    assert not any(words in page for words in ("sim/", "<script>alert"))
    visitor.post(address, {"choice": "tie"})
    assert Battle.objects.get() == voted


def test_limits_by_address_length_and_budget_are_said_in_plain_words(open_arena, drive):
    arena = open_arena(battles_per_hour=2)
    assert "at most 200 characters" in Client().post(ARENA, {"prompt": "x" * 201}).content.decode()
    assert Client().post(ARENA, {"prompt": " \n"}).status_code == 422
    for _time in range(2):
        ask(Client())
    refused = Client().post(ARENA, {"prompt": CANARY}, follow=True)
    assert (refused.status_code, "limit of 2 battles per hour" in refused.content.decode()) == (429, True)
    calls = Call.objects.count()
    Budget.objects.filter(project=arena.project).update(cost_limit=0)
    spent = Client().post(ARENA, {"prompt": CANARY})
    assert (spent.status_code, "used up today&#x27;s budget" in spent.content.decode()) == (503, True)
    assert (Call.objects.count(), ArenaBattle.objects.count()) == (calls, 2)


def test_only_what_was_offered_and_approved_is_published_and_exported(open_arena, drive, curator, alice):
    open_arena()
    visitor = Client()
    for prompt, more in (("Keep this between us, please.", {}), (CANARY, {"may_publish": "on"})):
        address = ask(visitor, prompt, **more)
        drive()
        visitor.post(address, {"choice": "both_bad"})
    desk, queue = signed_in(curator), reverse("review-arena")
    assert b"".join(Client().get(f"{ARENA}votes.jsonl")) == b""
    waiting = desk.get(queue).content.decode()
    assert [words in waiting for words in (CANARY, "between us")] == [True, False]
    assert [signed_in(alice).get(queue).status_code, Client().get(queue).status_code] == [404, 302]
    offered = ArenaBattle.objects.get(may_publish=True)

    assert desk.post(queue, {"battle": offered.pk, "decision": "approve"}).status_code == 303
    desk.post(queue, {"battle": offered.pk, "decision": "refuse"})
    PublicArena.objects.update(is_open=False)  # what was published stays
    [line] = b"".join(Client().get(f"{ARENA}votes.jsonl")).splitlines()
    row = json.loads(line)
    assert (row["winner"], row["conversation_a"][0]) == ("tie (bothbad)", {"role": "user", "content": CANARY})
    assert [row["model_a"], row["model_b"]] == [one.name for one in offered.shown]
    assert list(row) == [
        *("question_id", "model_a", "model_b", "winner", "judge", "conversation_a", "conversation_b", "turn"),
        *("anony", "language", "tstamp"),
    ]
    assert CANARY in Client().get(reverse("battle", args=[offered.battle_id])).content.decode()
    open_arena(is_moderated=False)
    address = ask(visitor, "An egret on the ice", may_publish="on")
    drive()
    visitor.post(address, {"choice": "second"})
    assert "An egret on the ice" in b"".join(Client().get(f"{ARENA}votes.jsonl")).decode(), "without review, at once"


def test_what_is_not_published_is_on_no_public_page_and_not_voted_on(open_arena, drive, settings, curator):
    arena = open_arena()
    address = ask(Client(), CANARY)
    Dataset.objects.filter(pk=arena.dataset_id).update(takes_votes=True)
    settings.PUBLIC_VOTES = True
    pages = (arena.dataset.get_absolute_url(), f"/vote/{arena.dataset.slug}/")
    before = [re.sub("nonce-[^']*|token[^>]*", "", Client().get(page).content.decode()) for page in pages]
    drive()

    assert Output.objects.count() == 2
    after = [re.sub("nonce-[^']*|token[^>]*", "", Client().get(page).content.decode()) for page in pages]
    assert [CANARY in page for page in after] == [False] * 2
    assert after == before, "nor does a number say which models have answered"
    assert Client().get(arena.prompts.get_absolute_url()).status_code == 404
    assert signed_in(curator).get(address).status_code == 404


def test_an_administrator_opens_and_closes_the_arena_on_its_page(provider, admin, woken_runs):
    lab, page = signed_in(admin), reverse("public-arena-settings")
    assert (lab.get(page).status_code, Client().get(ARENA).status_code) == (200, 404)
    models = [add_model(one).pk for one in (LEFT, RIGHT)]
    wanted = {"is_open": "on", "models": models[:1], "daily_cost": "3", "battles_per_hour": 5, "longest_prompt": 100}
    assert "Choose 2 to" in lab.post(page, wanted).content.decode()
    unpriced = lab.post(page, {**wanted, "models": models})
    assert (unpriced.status_code, "is unknown" in unpriced.content.decode()) == (422, True)
    for model in ProviderModel.objects.filter(pk__in=models):
        model.prices.create(input=0, output=0, since="2020-01-01T00:00Z")
    assert lab.post(page, {**wanted, "models": models}).status_code == 302
    assert (Client().get(ARENA).status_code, Budget.objects.get().cost_limit) == (200, 3)
    assert "Try the arena" in Client().get("/").content.decode()
    first = Experiment.objects.get()
    lab.post(page, {**wanted, "models": models, "is_open": ""})
    assert (Client().get(ARENA).status_code, Experiment.objects.get()) == (404, first)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(live, "LOOK_SECONDS", 0.05)


def begun(visitor):
    """A battle that a visitor has begun, with two calls under way."""
    battle = ArenaBattle.objects.get(pk=ask(visitor).split("/")[-2])
    model = battle.run.experiment.participants.first().model
    for number, task in enumerate(battle.run.overrides["tasks"]):
        key = f"output/{task['contestant']}/{battle.sample_id}"
        step = Step.objects.create(run=battle.run, key=key, kind="ask", purpose="output", seat=task["seat"])
        Call.objects.create(run=battle.run, step=step, attempt=1, model=model, request={}, text=f"Once {number}")
    return battle


def socket_of(battle, visitor=None):
    headers = [(b"host", b"localhost:8000"), (b"origin", b"http://localhost:8000")]
    if visitor:
        name = settings.SESSION_COOKIE_NAME
        headers.append((b"cookie", f"{name}={visitor.cookies[name].value}".encode()))
    return WebsocketCommunicator(application, f"/ws/public-arena/{battle.pk}/", headers=headers)


@over_sockets
async def test_who_asked_and_nobody_else_gets_both_answers_as_they_come_and_no_name(open_arena):
    await sync_to_async(open_arena)()
    visitor, other = Client(), Client()
    battle = await sync_to_async(begun)(visitor)
    await sync_to_async(begun)(other)
    for stranger in (None, other):
        assert (await socket_of(battle, stranger).connect(timeout=30))[0] is False
    gone = socket_of(battle, visitor)
    assert (await gone.connect(timeout=30))[0]
    await gone.receive_from(timeout=30)
    await gone.disconnect(timeout=30)
    assert not live.watch()._waiting, "a socket that has gone is looked after no longer"

    socket = socket_of(battle, visitor)
    assert (await socket.connect(timeout=30))[0]
    first = await socket.receive_from(timeout=30)
    assert await socket.receive_nothing(timeout=0.3), "nothing new, nothing sent"
    await sync_to_async(Call.objects.filter(text="Once 0").update)(text="Once upon a time")
    second = await socket.receive_from(timeout=30)
    outputs = [
        Output(sample_id=battle.sample_id, contestant_id=task["contestant"], text="**The end**.")
        for task in battle.run.overrides["tasks"]
    ]
    await Output.objects.abulk_create(outputs)
    last = await socket.receive_from(timeout=30)
    end = await socket.receive_output(timeout=30)

    assert {side["text"] for side in json.loads(first)["sides"]} == {"Once 0", "Once 1"}
    assert "Once upon a time" in {side["text"] for side in json.loads(second)["sides"]}
    told = json.loads(last)
    assert told["state"] == "ready"
    assert all("<strong>The end</strong>" in side["html"] for side in told["sides"])
    assert end["type"] == "websocket.close"
    assert not any(name in message for message in (first, second, last) for name in (LEFT, RIGHT, "contestant", CANARY))


@over_sockets
def test_many_battles_take_no_more_queries_than_one(open_arena):
    open_arena(battles_per_hour=100)
    keys = [begun(Client()).pk for _ in range(4)]

    def queries(some):
        with CaptureQueriesContext(connections["default"]) as asked, transaction.atomic():
            assert set(battles.news_of(some)) == set(some)
        return len(asked)

    assert queries(keys) == queries(keys[:1])
