"""Who may open a viewer of a run; and whose right to see has ended is sent away, while the others stay."""

from datetime import timedelta
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts import roles
from accounts.models import ApiToken, User
from accounts.tokens import create_token
from experiments.models import Experiment, RunReview
from experiments.runs.live import viewers
from experiments.runs.live.consumers import SIGNED_OUT
from tests.experiments.live.conftest import ORIGIN, new_session
from tests.experiments.sharing.published import approved
from tests.fixtures import PASSWORD

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_server")]

ARENA = "https://arena.example:8443"
FOREIGN = (
    *(b"http://evil.example", b"https://localhost.evil.example", b"null", b"", b"http://evil.example:8000"),
    *(b"file://", b"http://localhost:9999", b"http://localhost", b"https://localhost:8000", b"ftp://localhost:8000"),
    *(b"http://127.0.0.1:9999", b"http://127.0.0.1:8000", b"http://[::1]:8000", b"http://[::1", b"\xff"),
)


async def test_a_stranger_is_refused_sent_nothing_and_takes_nothing_from_others(
    watch_run, run, charlie, happens, no_watch
):
    viewer = await watch_run(run, "?after=1")
    token = await sync_to_async(create_token)(charlie)
    in_browser = await watch_run(run, origin=ORIGIN, cookie=await sync_to_async(new_session)(charlie))
    by_token = await watch_run(run, authorization=f"Bearer {token}".encode())
    await happens("turn_started", turn=1)

    for refused in (in_browser, by_token):
        assert not refused.is_open
        assert await refused.hears_nothing()
        await refused.leave()
    assert await viewer.events(1) == [2]
    await happens("turn_completed", turn=1)
    assert await viewer.events(1) == [3]
    assert not (await watch_run(UUID("00000000-0000-7000-8000-000000000000"))).is_open, "like one that is not there"


async def test_who_does_not_sign_in_or_names_a_starting_point_that_is_no_number_is_refused(watch_run, run):
    for headers in (
        *({"origin": ORIGIN}, {"origin": ORIGIN, "cookie": b"arena_session=abcdef"}),
        *({"origin": ORIGIN, "cookie": b"\xff\xfe="}, {"authorization": b"Bearer wrong"}, {"authorization": b""}),
        *({"authorization": b"Bearer " + token} for token in (b"\xff\xfe", b"a\x00b", b"")),
        {"authorization": b"Bearer"},
    ):
        assert not (await watch_run(run, **headers)).is_open, headers
    for after in ("x", "-1", "1.5", "%00", "٣", "9" * 19, "1e3", "0x1"):
        assert not (await watch_run(run, f"?after={after}")).is_open, after
    assert (await watch_run(run, "?after=")).is_open


async def test_alices_own_cookie_opens_it_for_no_other_pages_and_heals_no_wrong_token(watch_run, run, alices_session):
    assert (await watch_run(run, origin=ORIGIN, cookie=alices_session)).is_open
    for origin in FOREIGN:
        assert not (await watch_run(run, origin=origin, cookie=alices_session)).is_open, origin
    viewer = await watch_run(run, origin=ORIGIN, cookie=alices_session, authorization=b"Bearer wrong")
    assert not viewer.is_open


async def test_behind_tls_pages_of_this_host_and_of_listed_origins_open_it(watch_run, run, alices_session, settings):
    settings.HTTPS, settings.ALLOWED_HOSTS = True, ["arena.example"]
    for listed, host, origin, is_open in (
        ([], "arena.example", "https://arena.example", True),
        ([], "arena.example", "http://arena.example", False),
        ([], "arena.example", ARENA, False),  # nginx passes the host on without its port
        ([ARENA], "arena.example", ARENA, True),
        ([ARENA], "arena.example", "https://arena.example:8444", False),
        (["https://*.uni.example"], "arena.example", "https://lab.uni.example", True),
        (["https://*.uni.example"], "arena.example", "https://uni.example.evil", False),
        ([], "evil.example", "https://evil.example", False),  # a name of the attacker's that leads to this server
    ):
        settings.CSRF_TRUSTED_ORIGINS = listed
        headers = {"host": host.encode(), "origin": origin.encode(), "x-forwarded-proto": b"https"}
        assert (await watch_run(run, cookie=alices_session, **headers)).is_open == is_open, (listed, origin)


async def test_deactivated_people_expired_tokens_and_whoever_lacks_a_second_factor_are_refused(
    watch_run, run, alice, alices_token, alices_session, settings
):
    settings.REQUIRE_MFA = [alice.role]
    assert not (await watch_run(run)).is_open
    settings.REQUIRE_MFA = []
    await ApiToken.objects.aupdate(expiry=timezone.now() - timedelta(seconds=1))
    assert not (await watch_run(run, authorization=alices_token)).is_open
    await ApiToken.objects.aupdate(expiry=None)
    await User.objects.filter(pk=alice.pk).aupdate(is_active=False)

    assert not (await watch_run(run, authorization=alices_token)).is_open
    assert not (await watch_run(run, origin=ORIGIN, cookie=alices_session)).is_open


async def test_a_visitor_watches_a_published_run_while_it_is_approved(watch_run, run, quick_watch):
    await sync_to_async(Experiment.objects.filter(pk=run.experiment_id).update)(visibility="public")
    assert not (await watch_run(run, origin=ORIGIN)).is_open

    await sync_to_async(approved)(run)
    viewer = await watch_run(run, origin=ORIGIN)
    assert viewer.is_open
    await sync_to_async(RunReview.objects.update)(approved=None)
    assert await viewer.closing_code()


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
