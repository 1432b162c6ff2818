"""Signing in by the lab's own OpenID Connect server, over HTTP."""

from urllib.parse import urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client

from accounts import invitations
from accounts.models import AuditEntry, User
from arenasite import environment
from tests.accounts.conftest import is_in, sign_in
from tests.accounts.sign_in_server import CLIENT, SECRET, SignInServer
from tests.cases import each_case

pytestmark = [pytest.mark.system, pytest.mark.django_db]


BEGIN = "/oidc/lab/login/"
UNI = {"email": "zoe@uni.example", "email_verified": True}


@pytest.fixture(scope="module")
def key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def server(settings, key):
    server = SignInServer(key)
    settings.OIDC = environment.SignInServer("Uni", server.issuer, CLIENT, SECRET)
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [settings.OIDC.app()], "OAUTH_PKCE_ENABLED": True}}
    yield server
    server.close()


def come_in(browser, server, query="?process=login"):
    """Through the server and back; what is answered then."""
    away = browser.get(f"{BEGIN}{query}")
    return browser.get(server.authorize(away["Location"]))


def known(server, person, *, here=True, there=True):
    """Has the same address on both sides, and where it was verified."""
    if here is not None:
        EmailAddress.objects.create(user=person, email=person.email, verified=here, primary=True)
    server.person |= {"email": person.email, "email_verified": there}


def test_the_button_is_there_and_leads_somewhere_only_with_a_server(visitor, settings, server):
    assert BEGIN in visitor.get("/sign-in/").content.decode()

    settings.OIDC = None
    assert BEGIN not in visitor.get("/sign-in/").content.decode()
    settings.SOCIALACCOUNT_PROVIDERS = {}
    assert visitor.get(BEGIN).status_code == visitor.get(f"{BEGIN}callback/").status_code == 404


def test_a_new_person_of_the_domain_comes_in_and_again_until_deactivated(server, by_domain, visitor, entries_of):
    server.person |= UNI

    assert come_in(visitor, server)["Location"] == "/"

    zoe = User.objects.get()
    assert (zoe.username, zoe.email, zoe.role, zoe.has_usable_password()) == ("zoe", UNI["email"], "researcher", False)
    assert server.asked[0]["code_challenge_method"] == "S256"
    assert entries_of(AuditEntry.Action.SIGNED_UP)[0].actor == "zoe"
    assert entries_of(AuditEntry.Action.SIGNED_IN)[0].detail == {"by_means_of": ["socialaccount"]}
    assert SocialToken.objects.count() == 0
    again = Client()
    come_in(again, server)
    assert is_in(again)
    User.objects.update(is_active=False)
    third = Client()
    assert come_in(third, server)["Location"] == "/sign-in/inactive/"
    assert not is_in(third)
    assert User.objects.count() == 1


def test_the_policy_holds_for_people_of_the_server_and_unverified_addresses_are_verified_here(
    server, by_domain, settings
):
    policies = [("domain", "zoe@evil.example"), ("domain", None), ("closed", UNI["email"]), ("invite", UNI["email"])]
    for policy, email in policies:
        settings.SIGNUP = policy
        server.person |= {"email": email, "email_verified": True}
        assert "by invitation" in come_in(Client(), server).content.decode(), policy
    assert User.objects.count() == 0

    settings.SIGNUP = "domain"
    for claim in (False, "true", "false", None):
        visitor = Client()
        server.person |= {**UNI, "email_verified": claim}
        assert come_in(visitor, server)["Location"] == "/account/email/sent/", claim
        assert not is_in(visitor), claim


def test_an_account_is_joined_where_both_sides_have_verified_the_address_and_keeps_its_second_factor(
    server, bob, visitor, app_of
):
    known(server, bob)

    come_in(visitor, server)

    assert is_in(visitor)
    assert SocialAccount.objects.get().user == bob
    bob.refresh_from_db()
    assert bob.has_usable_password()
    app_of(bob)
    other = Client()
    assert come_in(other, server)["Location"] == "/account/second-factor/authenticate/"
    assert not is_in(other)


@each_case(("here", "there"), [(False, True), (True, False), (None, True)])
def test_an_account_is_not_joined_otherwise(server, by_domain, bob, here, there):
    visitor = Client()
    known(server, bob, here=here, there=there)

    come_in(visitor, server)

    assert not is_in(visitor)
    assert SocialAccount.objects.count() == 0


def test_who_is_invited_or_signed_in_comes_in_by_the_server_from_then_on(server, admin, visitor, bob, entries_of):
    sign_in(visitor, "bob")
    come_in(visitor, server, "?process=connect")
    assert SocialAccount.objects.get().user == bob
    assert entries_of(AuditEntry.Action.FACTOR_ADDED)[0].detail == {"kind": "sign_in_server"}
    assert "42" in visitor.get("/account/server/").content.decode()
    other = Client()
    come_in(other, server)
    assert is_in(other)

    invitation, token = invitations.invite(by=admin, role="curator")
    invited = Client()
    invited.get(f"/invitations/{token}/")
    server.person |= UNI | {"sub": "43"}
    come_in(invited, server)
    assert is_in(invited)
    invitation.refresh_from_db()
    assert (invitation.accepted_by.username, invitation.accepted_by.role) == ("zoe", "curator")


def test_a_token_that_is_not_right_lets_nobody_in(server, by_domain, monkeypatch):
    server.person |= UNI
    for lie, changes in {
        "signed by somebody else": {"signs_with": rsa.generate_private_key(public_exponent=65537, key_size=2048)},
        "for another client": {"claims": {"aud": "another"}},
        "of another issuer": {"claims": {"iss": "https://evil.example"}},
        "signed with a public secret": {"signs_with": b"a secret of thirty-two characters", "algorithm": "HS256"},
        "not signed": {"signs_with": None, "algorithm": "none"},
        "out of date": {"claims": {"exp": 1}},
        "about another person": {"about": {"sub": "43"}},
        "of a renamed server": {"calls_itself": "https://other.example", "claims": {"iss": "https://other.example"}},
    }.items():
        with monkeypatch.context() as patch:
            for name, value in changes.items():
                patch.setattr(server, name, value)
            assert come_in(Client(), server).status_code == 401, lie
        assert User.objects.count() == 0, lie


def test_an_unasked_answer_lets_nobody_in_and_who_cancels_or_finds_no_server_is_told(server, by_domain, visitor):
    server.person |= UNI
    back = server.authorize(visitor.get(BEGIN)["Location"])

    assert Client().get(back).status_code == 401
    assert visitor.get(BEGIN, headers={"sec-fetch-site": "cross-site"})["Location"] == "/sign-in/"
    assert User.objects.count() == 0

    state = urlsplit(visitor.get(BEGIN)["Location"]).query.partition("state=")[2].partition("&")[0]
    answer = visitor.get(f"{BEGIN}callback/?error=access_denied&state={state}", follow=True)
    assert "was cancelled" in answer.content.decode()

    server.close()
    answer = visitor.get(BEGIN)
    assert answer.status_code == 401
    assert "could not be reached" in answer.content.decode()
