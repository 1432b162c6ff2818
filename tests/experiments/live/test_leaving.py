"""A viewer whose right to see has ended is sent away; the others stay."""

from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts import roles
from accounts.models import ApiToken, User
from experiments.models import Experiment
from experiments.runs.live import viewers
from experiments.runs.live.consumers import SIGNED_OUT
from tests.experiments.live.conftest import new_session
from tests.fixtures import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)


def sign_out(session):
    browser = Client()
    browser.cookies[settings.SESSION_COOKIE_NAME] = session.partition(b"=")[2].decode()
    assert browser.post(reverse("logout")).status_code == 302


def change_password(person):
    browser = Client()
    browser.post(reverse("login"), {"username": person.username, "password": PASSWORD})
    new = "seventeen quiet otters"
    sent = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert browser.post(reverse("account_change_password"), sent).status_code == 302


async def test_signing_out_closes_the_socket_and_nothing_more_is_heard(watch_run, run, alices_session, happens):
    viewer = await watch_run(run)
    await sync_to_async(sign_out)(alices_session)

    assert await viewer.closing_code() == SIGNED_OUT
    assert viewers.LOOK_SECONDS < 5
    await happens("turn_started", turn=1)
    assert await viewer.hears_nothing(0.5)


def deactivate(person):
    roles.deactivate(person, by=User.objects.create_user("ada", role="admin"))


def give_the_run_away(person):
    Experiment.objects.filter(owner=person).update(owner=User.objects.create_user("bob"))


@pytest.mark.parametrize("end", [deactivate, change_password, give_the_run_away])
async def test_whoever_may_not_see_it_any_more_is_sent_away(watch_run, run, alice, quick_watch, end):
    viewer = await watch_run(run)
    await sync_to_async(end)(alice)

    assert await viewer.closing_code() == SIGNED_OUT


async def test_signing_out_elsewhere_or_an_expired_token_leaves_this_browser_alone(
    watch_run, run, alice, alices_token, happens, quick_watch
):
    viewer, by_token = await watch_run(run, "?after=1"), await watch_run(run, authorization=alices_token)
    elsewhere = await sync_to_async(new_session)(alice)
    await sync_to_async(sign_out)(elsewhere)
    await ApiToken.objects.aupdate(expiry=timezone.now() - timedelta(seconds=1))
    assert await by_token.closing_code() == SIGNED_OUT
    assert await viewer.hears_nothing(0.5)

    await happens("turn_started", turn=1)
    assert await viewer.events(1) == [2]


async def test_a_subscription_ends_with_the_last_viewer_until_the_next(
    watch_run, run, subscriptions, happens, no_watch
):
    first, second = await watch_run(run), await watch_run(run)
    await first.next()
    await first.leave()
    assert subscriptions(run) == 1

    await second.leave()

    assert subscriptions(run) == 0
    third = await watch_run(run, "?after=1")
    await happens("turn_started", turn=1)
    assert await third.events(1) == [2]
