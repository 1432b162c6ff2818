"""A small OpenID Connect server: authorization code with PKCE, ID tokens signed with RS256, over HTTP on loopback."""

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

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
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.issuer = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, name="sign-in-server", daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def authorize(self, address: str) -> str:
        """The person agrees in the browser. Returns to where the browser is sent."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        self.asked.append(asked)
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        back = urlsplit(asked["redirect_uri"]).path
        return f"{back}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, form: dict[str, str]) -> dict[str, Any]:
        """Raises ValueError where the client is wrong, or the verifier does not belong to the challenge."""
        asked = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or form.get("client_secret") != SECRET or challenge != asked.get("code_challenge"):
            raise ValueError(form)
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


def _handler(server: SignInServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = server.document(urlsplit(self.path).path)
            self._answer(200 if found else 404, found or {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            try:
                self._answer(200, server.token({name: values[0] for name, values in parse_qs(body).items()}))
            except ValueError:
                self._answer(400, {"error": "invalid_grant"})

        def _answer(self, status: int, document: dict[str, Any]) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    return Handler
