"""Every address, every person, every method: answered as the rules say, and there is no address without a rule."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache

import pytest
from django.contrib import auth
from django.db import connection, transaction
from django.template import Template
from django.urls import get_resolver, resolve
from drf_spectacular.generators import SchemaGenerator

from tests.experiments.rights.people import EVERYBODY
from tests.experiments.rights.rules import REFUSED, RULES, SIGN_IN, TOLD, UNKNOWN, YES
from tests.experiments.rights.things import addresses

METHODS = ("get", "post", "put", "patch", "delete")
NO_SUCH_METHOD = 405
SEES_PAGES = "admin"  # who is answered with pages in full: an error in one is found there; the owner's: tests/security
GROUPS = (EVERYBODY[:3], EVERYBODY[3:5], EVERYBODY[5:7], EVERYBODY[7:])
LAST = ("account_logout", "logout")  # whoever has signed out is nobody afterwards
ADDRESSES = sorted(addresses(), key=lambda address: (address[0] in LAST, address))
NAMED = {name: kind for kind, (_rule, names) in RULES.items() for name in names.split()}
WRITING = re.compile(r'(?:INSERT(?: OR \w+)? INTO|REPLACE INTO|UPDATE|DELETE FROM)\s+"(\w+)"', re.IGNORECASE)
KEPT_APART = {"django_session", "experiments_idempotentrequest", "accounts_auditentry"}  # for who is refused too


@pytest.fixture
def only_what_decides(monkeypatch):
    """What costs much and decides nothing of who is answered is left out: the page of most people, the API's schema,
    the log. A route and whose session it is are looked for once.
    """
    resolver, render, user_of, known = get_resolver(), Template.render, auth.get_user, {}

    def get_user(request):
        key = request.session.session_key
        if key not in known:
            known[key] = user_of(request)
        return copy(known[key])

    monkeypatch.setattr(resolver, "resolve", cache(resolver.resolve))
    monkeypatch.setattr(auth, "get_user", get_user)
    monkeypatch.setattr(SchemaGenerator, "get_schema", lambda *_arguments, **_options: {})
    logging.disable(logging.WARNING)

    def choose(who):
        monkeypatch.setattr(Template, "render", render if who == SEES_PAGES else lambda *_arguments: "a page")

    yield choose
    logging.disable(logging.NOTSET)


def meaning(answer):
    """What an answer means to whoever asked. A method that there is not tells nobody anything."""
    if answer.status_code == NO_SUCH_METHOD:
        return None
    if answer.status_code == 401 or (answer.status_code == 302 and answer["Location"].startswith("/sign-in/")):
        return SIGN_IN
    if answer.status_code in {302, 303, 400, 409, 415, 422}:
        return TOLD
    return {403: REFUSED, 404: UNKNOWN}.get(answer.status_code, YES)


def methods(address):
    """Those that the view of an address knows. Of a view that is a function all are asked; pages take two of them."""
    view = resolve(address).func
    if not hasattr(view, "cls"):
        return METHODS if address.startswith("/api/") else METHODS[:2]
    actions = getattr(view, "actions", None) or {}
    return [method for method in METHODS if method in actions or hasattr(view.cls, method)]


class Writes:
    """Which tables are written to, and whether a write has changed what is in one."""

    def __init__(self) -> None:
        self._tables: set[str] = set()
        self._before: dict[str, list] = {}

    def __call__(self, execute, sql, *rest):
        if found := WRITING.match(sql):
            self._tables |= {found[1]} - KEPT_APART
        return execute(sql, *rest)

    @contextmanager
    def undone(self) -> Iterator[set[str]]:
        """Takes back all that is written, and then tells the tables that had changed."""
        changed: set[str] = set()
        self._tables.clear()
        with transaction.atomic():
            yield changed
            after = {table: rows(table) for table in self._tables}
            transaction.set_rollback(True)
        for table, found in after.items():
            if table not in self._before:
                self._before[table] = rows(table)
            if found != self._before[table]:
                changed.add(table)


def rows(table):
    with connection.cursor() as cursor:
        return sorted(map(str, cursor.execute(f'SELECT * FROM "{table}"').fetchall()))


def asked(browser, method, address):
    kind = {"content_type": "application/json", "data": "{}"} if address.startswith("/api/") else {}
    answer = getattr(browser, method)(address, **(kind if method != "get" else {}))
    if answer.streaming:
        b"".join(answer)
    return answer


def test_each_address_stands_under_one_rule():
    counted = [name for _rule, names in RULES.values() for name in names.split()]

    assert sorted(set(counted)) == sorted(counted)
    assert {name for name, _route in ADDRESSES} - set(counted) == set()
    assert set(counted) - {name for name, _route in ADDRESSES} == set(), "a rule for nothing"


@pytest.mark.parametrize("people", GROUPS, ids=" ".join)
def test_everybody_is_answered_as_the_rules_say(things, only_what_decides, subtests, people):
    lab, alices = things
    placed = [(name, route, alices.address(name, route)) for name, route in ADDRESSES]
    browsers = {who: lab.browser(who) for who in people}
    with connection.execute_wrapper(writes := Writes()):
        for who, browser in browsers.items():
            only_what_decides(who)
            with subtests.test(who):
                is_answered_as_the_rules_say(who, browser, placed, writes)


def is_answered_as_the_rules_say(who, browser, placed, writes):
    wrong, answered = [], set()
    for name, route, address in placed:
        expected = RULES[NAMED[name]][0][who]
        for method in methods(address):
            with writes.undone() as changed:
                answer = asked(browser, method, address)
            meant = meaning(answer)
            assert answer.status_code != 500, (name, method)
            if meant in {YES, TOLD}:
                answered.add(name)
            if meant and meant not in expected | ({TOLD} if YES in expected else set()):
                wrong.append(f"{method} {name} {route}: {answer.status_code}, not {' or '.join(sorted(expected))}")
            if changed and YES not in expected:
                wrong.append(f"{method} {name} {route}: changed {', '.join(changed)}")
    assert not wrong, "\n".join(wrong)
    assert {name for name, _route, _address in placed if RULES[NAMED[name]][0][who] == {YES}} - answered == set()
