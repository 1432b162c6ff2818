"""A small OpenID Connect server: authorization code with PKCE, ID tokens signed with RS256, over HTTP on loopback."""

import base64
import hashlib
import json
import secrets
import time
from contextlib import ExitStack
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.answering import answering

CLIENT, SECRET, KEY_ID = "arena", "a-secret-of-the-client", "key-1"


class SignInServer:
    """`person` is who sits at the browser, as claims. The other attributes make it lie."""

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
            return {
                "issuer": self.calls_itself or self.issuer,
                **places,
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        if path == "/keys":
            if isinstance(self.signs_with, bytes):
                secret = base64.urlsafe_b64encode(self.signs_with).decode().rstrip("=")
                return {"keys": [{"kty": "oct", "k": secret, "kid": KEY_ID, "alg": self.algorithm}]}
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return {"keys": [{**public, "kid": KEY_ID, "alg": "RS256", "use": "sig"}]}
        return self.person | self.about if path == "/userinfo" else None
