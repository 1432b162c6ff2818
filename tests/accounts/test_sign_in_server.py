"""Signing in by the lab's own OpenID Connect server, over HTTP."""

import base64
import hashlib
import json
import secrets
import time
from contextlib import ExitStack
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client

from accounts import invitations
from accounts.models import AuditEntry, User
from arenasite import environment
from tests.accounts.conftest import is_in, sign_in
from tests.answering import answering
from tests.cases import each_case

pytestmark = [pytest.mark.system, pytest.mark.django_db]


BEGIN = "/oidc/lab/login/"
UNI = {"email": "zoe@uni.example", "email_verified": True}
CLIENT, SECRET, KEY_ID = "arena", "a-secret-of-the-client", "key-1"


class SignInServer:
    """Authorization code with PKCE, and ID tokens. `person` is who sits at the browser; the rest can make it lie."""

    def __init__(self, key: rsa.RSAPrivateKey) -> None:
        self.key = key
        self.person: dict[str, Any] = {"sub": "42", "preferred_username": "zoe"}
        self.signs_with = self.key
        self.about: dict[str, Any] = {}
        self.claims: dict[str, Any] = {}
        self.calls_itself = ""
        self.algorithm = "RS256"
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: list[dict[str, str]] = []
        self._serving = ExitStack()
        self.issuer = self._serving.enter_context(answering(self.answer))

    def close(self) -> None:
        self._serving.close()

    def answer(self, request: Any) -> Any:
        if request.body:
            form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
            return self.token(form) or (400, {"Content-Type": "application/json"}, b'{"error": "invalid_grant"}')
        return self.document(urlsplit(request.path).path) or (404, {}, b"{}")

    def authorize(self, address: str) -> str:
        """The person agrees in the browser. Returns to where the browser is sent."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        self.asked.append(asked)
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        back = urlsplit(asked["redirect_uri"]).path
        return f"{back}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, form: dict[str, str]) -> dict[str, Any] | None:
        """None where the client is wrong, or the verifier does not belong to the challenge."""
        asked = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or form.get("client_secret") != SECRET or challenge != asked.get("code_challenge"):
            return None
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 60, "sub": self.person["sub"]}
        token = jwt.encode(claims | self.claims, self.signs_with, algorithm=self.algorithm, headers={"kid": KEY_ID})
        return {"access_token": "opaque", "token_type": "Bearer", "id_token": token}

    def document(self, path: str) -> dict[str, Any] | None:
        if path == "/.well-known/openid-configuration":
            places = {name: f"{self.issuer}/{name}" for name in ("authorization_endpoint", "token_endpoint")}
            places |= {"userinfo_endpoint": f"{self.issuer}/userinfo", "jwks_uri": f"{self.issuer}/keys"}
            ways = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
            return {"issuer": self.calls_itself or self.issuer, **places, **ways}
        if path == "/keys":
            if isinstance(self.signs_with, bytes):
                secret = base64.urlsafe_b64encode(self.signs_with).decode().rstrip("=")
                return {"keys": [{"kty": "oct", "k": secret, "kid": KEY_ID, "alg": self.algorithm}]}
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return {"keys": [{**public, "kid": KEY_ID, "alg": "RS256", "use": "sig"}]}
        return self.person | self.about if path == "/userinfo" else None


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


def test_the_policy_holds_for_the_servers_people_and_addresses_are_verified_here(server, by_domain, settings):
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


def test_an_account_is_joined_where_both_verified_the_address_and_keeps_its_factor(server, bob, visitor, app_of):
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
