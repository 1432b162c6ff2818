"""The audit log: what gets in, how it is read, and that it only grows."""

import csv
import io
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import translation

from accounts import audit
from accounts.models import AppendOnly, AuditEntry
from accounts.templatetags.people import told
from accounts.tokens import create_token
from experiments.models import Experiment

Action = AuditEntry.Action


@pytest.mark.databases
def test_no_entry_is_changed_or_deleted_by_the_program_or_the_database(alice):
    """SQLite lets entries be deleted."""
    entry, entries = audit.record(Action.SHARED, by=alice, name="thing"), AuditEntry.objects.all()
    for change in (lambda: entries.update(name="other"), entries.delete, entry.save):
        with pytest.raises(AppendOnly):
            change()
    for statement, is_refused in (
        ("UPDATE accounts_auditentry SET name = 'other'", True),
        ("DELETE FROM accounts_auditentry", connection.vendor == "postgresql"),
    ):
        refusal = pytest.raises(DatabaseError, match="only ever added to") if is_refused else nullcontext()
        with refusal, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
        assert AuditEntry.objects.filter(pk=entry.pk, name="thing").exists() == is_refused


def test_a_refusal_is_recorded_and_a_loop_fills_nothing(browser, alice, bob, arena, start, entries_of, monkeypatch):
    run = start(arena())
    Experiment.objects.update(visibility=Experiment.Visibility.LAB)
    path, bearer = f"/api/runs/{run.pk}/stop/", {"authorization": f"Bearer {create_token(bob)}"}
    Client(enforce_csrf_checks=True).post("/theme/", {"theme": "dark"})
    assert entries_of(Action.RIGHTS_REFUSED) == [], "a visitor who is refused is nobody"
    for _ in range(5):
        assert browser.get("/admin/login/?secret=x").status_code == 403
    assert Client().post(path, headers=bearer).status_code == 403

    on_a_page, by_the_api = entries_of(Action.RIGHTS_REFUSED)
    assert (on_a_page.actor_id, on_a_page.name) == (alice.pk, "GET /admin/login/")
    assert on_a_page.address == "127.0.0.1"
    assert (by_the_api.actor, by_the_api.name) == ("bob", f"POST {path}")

    monkeypatch.setattr("accounts.audit_hooks.MOST_REFUSALS", 3)
    for number in range(6):
        browser.generic(f"X{number}", "/admin/login/")
    assert len(entries_of(Action.RIGHTS_REFUSED)) == 4, "three of one person, over many addresses too"


def names(page):
    return [entry.name for entry in page.context["entries"]]


def test_it_is_read_newest_first_page_by_page_and_downloaded_whole_without_a_formula(admins, alice):
    for number in range(120):
        audit.record(Action.EXPORTED, by=alice, name=f"file {number}")

    first = admins.get("/audit/?deed=exported")
    audit.record(Action.EXPORTED, by=alice, name="meanwhile")
    second = admins.get(f"/audit/?{first.context['older']}")
    third = admins.get(f"/audit/?{second.context['older']}")

    assert names(first) + names(second) + names(third) == [f"file {number}" for number in reversed(range(120))]
    assert third.context["older"] == ""

    for name in ("=1+1", "+1", "-1", "@x", " =1", "plain", "＝1"):
        audit.record(Action.SHARED, by=alice, name=name, after=name)

    answer = admins.get("/audit/audit.csv?deed=shared")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer).decode().removeprefix("\ufeff"))))

    assert [row["name"] for row in rows] == ["'＝1", "plain", "' =1", "'@x", "'-1", "'+1", "'=1+1"]
    assert {row["actor"] for row in rows} == {"alice"}
    assert answer["Content-Disposition"].startswith("attachment")


def test_it_is_filtered_and_a_filter_that_cannot_be_read_is_said_and_shows_nothing(admins, alice, bob):
    audit.record(Action.EXPORTED, by=alice, name="one")
    audit.record(Action.SHARED, by=bob, name="two")
    today = datetime.now(UTC).date()
    for query, expected in {
        "person=ali": ["one"],
        "deed=shared": ["two"],
        "target=two": ["two"],
        "person=ali&deed=shared": [],
        "since=2999-01-01": [],
        "until=2000-01-01": [],
        f"since={today}&until={today + timedelta(days=1)}": ["two", "one"],
    }.items():
        assert names(admins.get(f"/audit/?{query}")) == expected, query
    for query in ("since=yesterday", "deed=nothing", "before=x"):
        page = admins.get(f"/audit/?{query}")
        assert (names(page), "not valid" in page.content.decode()) == ([], True), query


def test_details_are_read_as_words(alice):
    before = {"period": "month", "cost": None, "tokens": 8000, "allows_unknown_prices": True, "is_old": False}
    entry = audit.record(Action.BUDGET_CHANGED, by=alice, name="b", before=before, members=["mia", "bob"])

    assert told(entry) == [("before", "period month, tokens 8000, allows unknown prices"), ("members", "mia, bob")]
    with translation.override("zh-hans"):
        assert [name for name, _value in told(entry)] == ["之前", "成员"]
