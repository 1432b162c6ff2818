"""What every page needs to know."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts import first_admin
from accounts.views import THEMES
from arenasite import demo, navigation


def site(request: HttpRequest) -> dict[str, object]:
    theme = request.COOKIES.get(settings.THEME_COOKIE_NAME, "auto")
    return {
        "shell": SimpleLazyObject(lambda: navigation.shell(request)),  # made for pages that have one
        "theme": theme if theme in THEMES else "auto",
        "themes": THEMES,
        "languages": settings.LANGUAGES,
        "has_mail": settings.HAS_MAIL,
        "needs_first_admin": first_admin.is_needed,  # asked of the database by the page that shows it alone
        "signs_up": settings.SIGNUP == "domain",
        "sign_in_server": settings.OIDC,
        "takes_public_votes": settings.PUBLIC_VOTES,
        "demo_password": demo.PASSWORD if settings.DEMO_MODE else "",
    }
