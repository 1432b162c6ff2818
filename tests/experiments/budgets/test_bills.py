"""What providers billed, beside our own ledger: by day and model, with an alarm where the two disagree."""

import json
import logging
import threading
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from urllib.parse import parse_qs

import pytest

from experiments.lab.usage import billed
from experiments.lab.usage import days as usage_days
from experiments.models import BilledDay, Call, Provider
from tests.experiments.budgets.test_usage import spend, today  # noqa: F401 - a fixture
from tests.fixtures import signed_in
from tests.parts import in_process

pytestmark = pytest.mark.django_db

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
def accounts(arena, spend, monkeypatch):  # noqa: F811
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
