"""Signing in by the lab's own OpenID Connect server: authorization code with PKCE.

Stricter than django-allauth by itself: the ID token's signature is checked even though it came from the server, it
must name the issuer that was set, what the server tells about a person must be about the person of the ID token, and
`email_verified` must be true, not a word.
"""

from typing import Any

from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.models import SocialApp, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET
from requests import RequestException

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")


class ServerAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth has no types
    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> Any:
        claims = self._claims(app, kwargs["response"].get("id_token"))
        about = self._fetch_user_info(token.token) if "userinfo_endpoint" in self.openid_config else claims
        if about.get("sub") != claims["sub"]:
            raise OAuth2Error("The sign-in server has answered about somebody else.")
        about = {**about, "email_verified": about.get("email_verified") is True}
        return self.get_provider().sociallogin_from_response(request, {"userinfo": about, "id_token": claims})

    def _claims(self, app: SocialApp, id_token: str | None) -> dict[str, Any]:
        if not id_token:
            raise OAuth2Error("The sign-in server gave no ID token.")
        configured = app.settings["server_url"].removesuffix("/.well-known/openid-configuration").rstrip("/")
        if str(self.openid_config.get("issuer")).rstrip("/") != configured:
            raise OAuth2Error("The sign-in server says that it is another one.")
        try:
            claims: dict[str, Any] = jwtkit.verify_and_decode(
                credential=id_token,
                keys_url=self.openid_config["jwks_uri"],
                issuer=self.openid_config["issuer"],
                audience=app.client_id,
                lookup_kid=_key_of,
            )
            claims["sub"]
        except (KeyError, ValueError) as error:
            raise OAuth2Error("The sign-in server's ID token cannot be read.") from error
        return claims


def _key_of(keys: dict[str, Any], kid: str) -> Any:
    """The key of this name, if it is one of a pair: a shared secret would let whoever reads the keys sign."""
    asymmetric = [key for key in keys["keys"] if key.get("alg", "RS256") in ALGORITHMS]
    return jwtkit.lookup_kid_jwk({"keys": asymmetric}, kid)


@require_GET
def sign_in(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Leads to the server. Not from another site: nobody is signed in by a link that they did not mean."""
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        return redirect("login")
    return _answer(OAuth2LoginView, request, provider_id)


@require_GET
def come_back(request: HttpRequest, provider_id: str) -> HttpResponse:
    return _answer(OAuth2CallbackView, request, provider_id)


def _answer(view: Any, request: HttpRequest, provider_id: str) -> HttpResponse:
    adapter = ServerAdapter(request, provider_id)
    try:
        response: HttpResponse = view.adapter_view(adapter)(request)
    except SocialApp.DoesNotExist as error:
        raise Http404 from error
    except (RequestException, KeyError, ValueError) as error:  # the server is away, or talks nonsense
        refused: HttpResponse = render_authentication_error(request, adapter.get_provider(), exception=error)
        return refused
    return response
