"""The usage page: whose, of which days, and that days that were added up say the same as their calls."""

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from experiments.lab.usage import days as usage_days
from experiments.lab.usage.spent import Scope, usage
from experiments.models import Call, Experiment, Run, UsageDay
from experiments.models.ids import new_id
from tests.fixtures import signed_in
from tests.making import maker


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
