"""Short notices to whoever has just done something, until they are shown."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class HostCookieStorage(CookieStorage):
    """In a cookie that no other host can set."""

    cookie_name = "__Host-arena_notices" if settings.HTTPS else "arena_notices"


class NoticeStorage(FallbackStorage):
    storage_classes = (HostCookieStorage, SessionStorage)
