"""Pages, styles and scripts travel compressed, and are still asked for only when they have changed."""

import gzip
from pathlib import Path

from django.conf import settings
from django.test import Client, RequestFactory, override_settings
from whitenoise.middleware import WhiteNoiseMiddleware

from arenasite.compression import CompressionMiddleware

STYLES = "/static/site.css"
COMPRESSING = {"Accept-Encoding": "gzip, br"}


@override_settings(WHITENOISE_USE_FINDERS=True, WHITENOISE_AUTOREFRESH=True)
def test_styles_are_compressed_once_and_not_sent_again_to_a_browser_that_has_them(monkeypatch):
    files = CompressionMiddleware(WhiteNoiseMiddleware(lambda _request: None))

    def ask(**headers):
        answer = files(RequestFactory().get(STYLES, headers=headers))
        return answer, b"".join(answer)

    whole = (Path(settings.BASE_DIR) / STYLES.removeprefix("/")).read_bytes()
    first, sent = ask(**COMPRESSING)
    again, nothing = ask(**COMPRESSING, **{"If-None-Match": first["ETag"]})
    part, begun = ask(**COMPRESSING, Range="bytes=0-9")

    assert (first["Content-Encoding"], first["Vary"], gzip.decompress(sent)) == ("gzip", "Accept-Encoding", whole)
    assert (again.status_code, nothing) == (304, b"")
    assert (part.status_code, part.has_header("Content-Encoding"), begun) == (206, False, whole[:10])
    assert ask()[1] == whole
    monkeypatch.delattr("arenasite.compression.compress_string")
    same, sent_again = ask(**COMPRESSING)
    assert (sent_again, same.headers) == (sent, first.headers)
    assert len(sent) == int(same["Content-Length"]), "in one piece"


def test_a_page_is_compressed_and_data_is_not(alice):
    browser = Client(headers=COMPRESSING)
    browser.force_login(alice)

    assert b"<!doctype html>" in gzip.decompress(browser.get("/runs/").content)
    assert not browser.get("/api/").has_header("Content-Encoding")
