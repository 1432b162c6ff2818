"""Who may open a viewer of a run."""

from datetime import timedelta
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from accounts.models import ApiToken, User
from accounts.tokens import create_token
from experiments.models import Experiment, RunReview
from tests.cases import each_case
from tests.experiments.live.conftest import ORIGIN
from tests.experiments.sharing.published import approved

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_server")]

ARENA = "https://arena.example:8443"
FOREIGN = (
    *(b"http://evil.example", b"https://localhost.evil.example", b"null", b"", b"http://evil.example:8000"),
    *(b"file://", b"http://localhost:9999", b"http://localhost", b"https://localhost:8000", b"ftp://localhost:8000"),
    *(b"http://127.0.0.1:9999", b"http://127.0.0.1:8000", b"http://[::1]:8000", b"http://[::1", b"\xff"),
)


async def test_the_owner_opens_it_in_a_browser_or_with_a_token_alone(watch_run, run, alices_session, alices_token):
    for headers in ({"origin": ORIGIN, "cookie": alices_session}, {"authorization": alices_token}):
        viewer = await watch_run(run, **headers)
        assert viewer.is_open
        message = await viewer.next()
        assert (message["type"], message["seq"]) == ("experiment_created", 1)


async def test_a_stranger_is_refused_sent_nothing_and_takes_nothing_from_others(
    watch_run, run, charlie, strangers_session, happens, no_watch
):
    viewer = await watch_run(run, "?after=1")
    token = await sync_to_async(create_token)(charlie)
    in_browser = await watch_run(run, origin=ORIGIN, cookie=strangers_session)
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


@each_case(
    "headers",
    [
        {"origin": ORIGIN},
        {"origin": ORIGIN, "cookie": b"arena_session=abcdef"},
        {"origin": ORIGIN, "cookie": b"\xff\xfe="},
        {"authorization": b"Bearer wrong"},
        {"authorization": b"Bearer \xff\xfe"},
        {"authorization": b"Bearer a\x00b"},
        {"authorization": b"Bearer"},
        {"authorization": b""},
    ],
    ids=["no cookie", "unknown session", "broken cookie", "wrong token", "no text", "NUL", "no token", "nothing"],
)
async def test_who_does_not_sign_in_is_refused(watch_run, run, headers):
    assert not (await watch_run(run, **headers)).is_open


async def test_alices_own_cookie_opens_nothing_for_other_pages_and_heals_no_wrong_token(watch_run, run, alices_session):
    for origin in FOREIGN:
        assert not (await watch_run(run, origin=origin, cookie=alices_session)).is_open, origin
    viewer = await watch_run(run, origin=ORIGIN, cookie=alices_session, authorization=b"Bearer wrong")
    assert not viewer.is_open


@each_case(
    ("listed", "host", "origin", "is_open"),
    [
        ([], "arena.example", "https://arena.example", True),
        ([], "arena.example", "http://arena.example", False),
        ([], "arena.example", ARENA, False),  # nginx passes the host on without its port
        ([ARENA], "arena.example", ARENA, True),
        ([ARENA], "arena.example", "https://arena.example:8444", False),
        (["https://*.uni.example"], "arena.example", "https://lab.uni.example", True),
        (["https://*.uni.example"], "arena.example", "https://uni.example.evil", False),
        ([], "evil.example", "https://evil.example", False),  # a name of the attacker's that leads to this server
    ],
)
async def test_behind_tls_pages_of_this_host_and_of_listed_origins_open_it(
    watch_run, run, alices_session, settings, listed, host, origin, is_open
):
    settings.HTTPS, settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS = True, ["arena.example"], listed
    headers = {"host": host.encode(), "origin": origin.encode(), "x-forwarded-proto": b"https"}

    assert (await watch_run(run, cookie=alices_session, **headers)).is_open == is_open


@each_case("after", ["x", "-1", "1.5", "", "%00", "٣", "9" * 19, "1e3", "0x1"])
async def test_a_starting_point_that_is_no_number_is_refused(watch_run, run, after):
    viewer = await watch_run(run, f"?after={after}")

    assert viewer.is_open == (after == "")


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
