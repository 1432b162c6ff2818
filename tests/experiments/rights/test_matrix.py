"""Every address, every person, every method: answered as the rules say, and there is no address without a rule."""

import pytest
from django.apps import apps
from django.db import transaction
from django.urls import reverse

from accounts.models import AuditEntry
from experiments.models import Dataset, Experiment, Run
from tests.experiments.rights.people import EVERYBODY, lab_of
from tests.experiments.rights.rules import (
    ADMIN_PAGES,
    IN_THE_ADMIN,
    PRIVATE_RUN,
    REFUSED,
    RULES,
    SIGN_IN,
    TOLD,
    UNKNOWN,
    YES,
)
from tests.experiments.rights.things import Things, addresses

OF_PAGES = ("get", "post")
OF_THE_API = (*OF_PAGES, "put", "patch", "delete")
NO_SUCH_METHOD = 405
LAST = ("account_logout", "logout")  # whoever has signed out is nobody afterwards
ADDRESSES = sorted(addresses(), key=lambda address: (address[0] in LAST, address))
NAMED = {name: kind for kind, (_rule, names) in RULES.items() for name in names.split()}
KEPT_APART = (
    "session",
    "idempotentrequest",
    "auditentry",
)  # written also for who is refused, or before anything begins


@pytest.fixture
def things(provider, alice, played, starchamber, start, drive, tmp_path, settings, quiet_doorbell):
    settings.IMAGES_DIR, settings.SIGNUP = tmp_path, "invite"
    lab = lab_of(alice)
    talk = start(starchamber("sim/cooperative:first=0:words=5"))
    drive()
    return lab, Things(lab, played(max_turns=1), talk, tmp_path)


def meaning(answer):
    """What an answer means to whoever asked. A method that there is not tells nobody anything."""
    if answer.status_code == NO_SUCH_METHOD:
        return None
    if answer.status_code == 401 or (answer.status_code == 302 and answer["Location"].startswith("/sign-in/")):
        return SIGN_IN
    if answer.status_code in {302, 303, 400, 409, 415, 422}:
        return TOLD
    return {403: REFUSED, 404: UNKNOWN}.get(answer.status_code, YES)


def everything():
    """What could have been moved: how many rows there are of each kind, and how things stand."""
    models = [m for app in ("accounts", "experiments", "leaderboard") for m in apps.get_app_config(app).get_models()]
    counts = {m._meta.model_name: m._base_manager.count() for m in models if m._meta.model_name not in KEPT_APART}
    runs = list(Run.objects.order_by("pk").values_list("state", "is_held", "mode", "overrides", "last_seq"))
    seen = list(Experiment.objects.order_by("pk").values_list("visibility", "project", "campaign__state"))
    return str((counts, runs, seen, list(Dataset.objects.values_list("visibility", "state"))))


def asked(browser, method, address):
    """The answer, and how things stood after it; what it has moved is taken back."""
    with transaction.atomic():
        kind = {"content_type": "application/json", "data": "{}"} if address.startswith("/api/") else {}
        answer = getattr(browser, method)(address, **(kind if method != "get" else {}))
        if answer.streaming:
            b"".join(answer)
        after = everything() if meaning(answer) in {REFUSED, TOLD} else None
        transaction.set_rollback(True)
    return answer, after


def test_each_address_stands_under_one_rule():
    counted = [name for _rule, names in RULES.values() for name in names.split()]

    assert sorted(set(counted)) == sorted(counted)
    assert {name for name, _route in ADDRESSES} - set(counted) == set()
    assert set(counted) - {name for name, _route in ADDRESSES} == set(), "a rule for nothing"


@pytest.mark.django_db
def test_administrators_alone_read_a_private_run_and_only_in_the_admin_where_it_is_recorded(things):
    lab, alices = things
    run = alices.arena
    Experiment.objects.filter(pk=run.experiment_id).update(visibility="private")
    rows = {"experiments_run_change": [run.pk], "experiments_message_change": [run.messages.first().pk]}
    for who in EVERYBODY:
        browser = lab.browser(who)
        answers = {meaning(browser.get(reverse(f"admin:{name}", args=rows.get(name)))) for name in ADMIN_PAGES}
        assert answers == IN_THE_ADMIN[who], who
        assert {meaning(browser.get(run.get_absolute_url()))} == PRIVATE_RUN[who], who
    read = AuditEntry.objects.filter(action="run_read").order_by("pk")
    assert list(read.values_list("actor", "target")) == [("the-admin", f"run:{run.pk}")] * 2


@pytest.mark.django_db
@pytest.mark.parametrize("who", EVERYBODY)
def test_everybody_is_answered_as_the_rules_say(things, who):
    lab, alices = things
    browser, wrong, answered, before = lab.browser(who), [], set(), everything()
    for name, route in ADDRESSES:
        expected = RULES[NAMED[name]][0][who]
        for method in OF_THE_API if route.startswith("api/") else OF_PAGES:
            answer, after = asked(browser, method, alices.address(name, route))
            meant = meaning(answer)
            assert answer.status_code != 500, (name, method)
            if meant in {YES, TOLD}:
                answered.add(name)
            if meant and meant not in expected | ({TOLD} if YES in expected else set()):
                wrong.append(f"{method} {name} {route}: {answer.status_code}, not {' or '.join(sorted(expected))}")
            if YES not in expected and after not in {None, before}:
                wrong.append(f"{method} {name} {route}: moved something")
    assert not wrong, "\n".join(wrong)
    assert {name for name, _route in ADDRESSES if RULES[NAMED[name]][0][who] == {YES}} - answered == set()
