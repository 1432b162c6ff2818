"""What was spent, whose and when, on the usage page; and what providers billed, beside our own ledger."""

import csv
import io
import json
import logging
import threading
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from urllib.parse import parse_qs

import pytest
from django.utils import timezone

from experiments.lab.usage import billed
from experiments.lab.usage import days as usage_days
from experiments.lab.usage.spent import Scope, usage
from experiments.models import BilledDay, Call, Experiment, Provider, Run, UsageDay
from experiments.models.ids import new_id
from tests.fixtures import signed_in
from tests.making import maker
from tests.parts import in_process


def today():
    return datetime.now(UTC).date()


@maker
def spend(arena, /, experiment, days_ago=0, cost="0.1", purpose="reply", state=Call.State.COMPLETED):
    run = experiment.runs.first() or Run.objects.create(experiment=experiment, seed=1)
    step = run.steps.create(key=str(new_id()), kind="ask", purpose=purpose)
    about = {"run": run, "step": step, "model": experiment.participants.first().model, "attempt": 1, "request": {}}
    amounts = {"reserved": Decimal("0.5"), "cost": cost and Decimal(cost), "input_tokens": 10, "output_tokens": 5}
    call = Call.objects.create(state=state, **about, **amounts)
    Call.objects.filter(pk=call.pk).update(sent=timezone.now() - timedelta(days=days_ago))
    return call


@pytest.fixture
def spent(arena, spend, project, charlie):
    mine, shared = arena(), arena()
    Experiment.objects.filter(pk=shared.pk).update(project=project, owner=charlie)
    shared.refresh_from_db()
    for days_ago in (0, 1, 1, 5):
        spend(mine, days_ago)
    spend(mine, 2, None, "judge", Call.State.LOST)
    spend(shared, 1, "0.25", "filter")
    spend(shared, 40, "7")
    return mine, shared


def month(person, kind="me", project=None):
    return usage(Scope(kind, person, project), today() - timedelta(days=29), today())


@pytest.mark.databases
def test_mine_is_what_my_experiments_came_to_but_for_what_was_played_elsewhere(spent, alice):
    found = month(alice)

    assert (found.total.calls, found.total.cost, found.total.tokens) == (5, Decimal("0.4"), 75)
    assert (found.total.unpriced, found.total.lost, found.total.possible_cost) == (1, 1, Decimal("0.5"))
    assert [name for name, _totals in found.by["person"]] == ["alice"]
    assert dict(found.by["role"])["judge"].unpriced == 1
    days = dict(found.by["day"])
    assert len(days) == 30
    assert days[(today() - timedelta(days=1)).isoformat()].calls == 2

    Run.objects.update(origin="imported")
    assert month(alice).total.calls == 0


@pytest.mark.databases
def test_days_that_are_added_up_say_the_same_as_their_calls_and_take_few_queries(
    spent, admin, alice, project, charlie, django_assert_max_num_queries
):
    scopes = [Scope("lab", admin), Scope("me", alice), Scope("me", charlie), Scope("project", admin, project)]
    since, until = today() - timedelta(days=60), today()
    before = [usage(scope, since, until) for scope in scopes]

    assert usage_days.roll_up() == 4
    assert usage_days.roll_up() == 0

    assert UsageDay.objects.filter(day=today()).count() == 0, "today is not over"
    assert [usage(scope, since, until) for scope in scopes] == before
    with django_assert_max_num_queries(9):
        month(admin, "lab")


def test_a_day_waits_until_its_last_call_has_ended_and_for_those_that_are_written_down_late(spend, arena, monkeypatch):
    call = spend(arena(), 1, None, state=Call.State.SENT)
    assert usage_days.roll_up() == 0

    Call.objects.filter(pk=call.pk).update(state=Call.State.COMPLETED, cost=1)
    with monkeypatch.context() as patch:
        patch.setattr(usage_days, "LATEST", timedelta(days=2))
        assert usage_days.roll_up() == 0

    assert usage_days.roll_up() == 1


def test_who_sees_whose(spent, alice, admin, lena, charlie, project):
    scopes = ("scope=lab", f"scope=project&project={project.pk}")
    for person, statuses in {admin: [200, 200], lena: [404, 200], alice: [404, 404], charlie: [404, 404]}.items():
        browser = signed_in(person)
        assert browser.get("/usage/").status_code == 200
        for path in ("/usage/", "/api/usage/", "/usage.csv"):
            assert [browser.get(f"{path}?{scope}").status_code for scope in scopes] == statuses


def test_the_page_says_that_unknown_costs_make_it_a_lower_bound_api_and_csv_tell_the_same_without_a_formula(
    spent, alice
):
    model = spent[0].participants.first().model
    model.label = '=HYPERLINK("http://evil")'
    model.save(update_fields=["label"])
    browser = signed_in(alice)
    page = browser.get("/usage/").content.decode()
    assert ("at least <b>$0.4000</b>" in page, "adds at most $0.5000" in page) == (True, True)

    body = browser.get("/api/usage/").json()
    assert (body["total"]["cost"], body["total"]["calls"]) == ("0.4000000000", 5)
    assert {one["value"] for one in body["role"]} == {"reply", "judge"}
    assert (body["since"], body["until"]) == (str(today() - timedelta(days=29)), str(today()))

    answer = browser.get("/usage.csv")
    rows = {(row["dimension"], row["value"]): row for row in csv.DictReader(io.StringIO(answer.content.decode()))}
    assert rows["person", "alice"]["cost"] == "0.4000000000"
    assert ("model", "'" + model.label) in rows
    assert rows["day", today().isoformat()]["calls"] == "1"
    assert answer["Content-Disposition"].startswith('attachment; filename="usage-')

    for asked in ("since=2026-13-01", "since=2026-02-02&until=2026-02-01", "since=x"):
        addresses = {"/usage/": 303, "/api/usage/": 400, "/usage.csv": 400}
        assert {path: browser.get(f"{path}?{asked}").status_code for path in addresses} == addresses, asked


YESTERDAY = timedelta(days=1)


class Accounts:
    """A provider's usage API. asked: the keys. bills: dollars by upstream, all of yesterday."""

    def __init__(self):
        self.asked, self.bills = [], {}

    async def __call__(self, scope, receive, send):
        query = parse_qs(scope["query_string"].decode())
        self.asked.append(dict(scope["headers"])[b"authorization"].decode())
        answers = {"/v1/activity": self.activity, "/v1/organization/costs": self.costs}
        body = json.dumps(answers[scope["path"]](query)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    def activity(self, query):
        lines = [{"date": str(today() - YESTERDAY), "model": name, "usage": usd} for name, usd in self.bills.items()]
        return {"data": [*lines, {"date": "2020-01-01", "model": "old", "usage": 9}, {"model": "odd"}, None]}

    def costs(self, query):
        """Two pages: input and output of a model are lines of their own."""
        line, more = ("output", None) if "page" in query else ("input", "two")
        results = [
            {"amount": {"value": usd / 2, "currency": "usd"}, "line_item": f"{name}-2026-01-01, {line}"}
            for name, usd in self.bills.items()
        ]
        midnight = datetime.combine(today() - YESTERDAY, time(), tzinfo=UTC)
        return {"data": [{"start_time": int(midnight.timestamp()), "results": results}], "next_page": more}


@pytest.fixture
def accounts(arena, spend, monkeypatch):
    """Yesterday, two models of one provider cost $10 and $4 here; a lost call of the second, at most $0.50."""
    monkeypatch.setenv("LABS_USAGE_KEY", "sk-usage")
    server, experiment = Accounts(), arena()
    for participant, cost in zip(experiment.participants.order_by("seat"), ("10", "4"), strict=False):
        call = spend(experiment, 1, cost)
        Call.objects.filter(pk=call.pk).update(model=participant.model)
        server.bills[participant.model.upstream] = float(cost)
    lost = spend(experiment, 1, None, state=Call.State.LOST)
    Call.objects.filter(pk=lost.pk).update(model=Call.objects.get(cost=4).model)
    usage_days.roll_up()
    with in_process.served(server) as base_url:
        Provider.objects.update(base_url=base_url, usage_key_env="LABS_USAGE_KEY", usage_api="openrouter")
        yield server


def found():
    billed.fetch_all(threading.Event())
    return {one.model: one for one in billed.differences(today() - 2 * YESTERDAY, today())}


@pytest.mark.parametrize("api", ["openrouter", "openai"])
def test_a_provider_that_bills_three_percent_more_is_shown_by_model_and_alarmed(accounts, admin, caplog, api):
    Provider.objects.update(usage_api=api)
    assert [(one.amount, one.is_alarming) for one in found().values()] == [(0, False), (0, False)]
    first, second = accounts.bills
    accounts.bills[first] *= 1.03

    with caplog.at_level(logging.ERROR):
        bills = found()

    assert set(accounts.asked) == {"Bearer sk-usage"}
    assert (bills[first].ours, bills[first].billed, bills[first].amount) == (10, Decimal("10.3"), Decimal("0.3"))
    assert (bills[first].is_alarming, bills[second].is_alarming) == (True, False)
    assert [record.args[1] for record in caplog.records] == [first]
    page = signed_in(admin).get("/usage/?scope=lab")
    assert (page.context["alarms"], len(page.context["bills"])) == (1, 2)
    assert signed_in(admin).get("/usage/").context["bills"] == []


def test_what_may_be_lost_explains_a_larger_bill_other_keys_a_smaller_one_and_a_silent_provider_changes_nothing(
    accounts, alice, caplog
):
    first, second = accounts.bills
    accounts.bills[first] -= 1
    accounts.bills[second] += 0.4
    assert (found()[first].is_alarming, found()[second].is_alarming) == (True, False)
    Provider.objects.get().keys.create(owner=alice, ciphertext="x")

    assert (found()[first].amount, found()[first].is_alarming) == (-1, False)
    accounts.bills = {second: 4.0}
    assert found()[first].billed == 9  # what was fetched before stays

    async def silent(scope, receive, send):
        """Ends the connection."""

    before = list(BilledDay.objects.values_list("model", "cost"))
    with in_process.served(silent) as base_url:
        Provider.objects.update(base_url=base_url)
        billed.fetch_all(threading.Event())
    assert list(BilledDay.objects.values_list("model", "cost")) == before
    assert "could not be fetched" in caplog.text
