"""The documentation inside the product: every page, every link in them, and the search."""

import re
from urllib.parse import urldefrag

import pytest
from django.contrib.staticfiles import finders
from django.urls import reverse
from lxml import html

from arenasite.documentation import pages

pytestmark = pytest.mark.django_db


def page(client, address):
    response = client.get(address)
    assert response.status_code == 200, address
    return html.fromstring(response.content.decode())


def test_visitors_read_every_page_and_no_link_or_picture_in_them_is_dead(client):
    others = [reverse("documentation-page", args=[name]) for name in pages() if name != "index"]
    shown = {address: page(client, address) for address in (reverse("documentation"), *others)}
    dead = []
    for address, found in shown.items():
        [article] = found.xpath("//article")
        for link in article.xpath(".//a/@href"):
            target, anchor = urldefrag(link)
            if re.match("https?://", link):
                continue
            there = shown.get(target or address)
            if there is None or (anchor and not there.xpath(f'//*[@id="{anchor}"]')):
                dead.append((address, link))
        sources = article.xpath(".//img/@src")
        dead += [(address, source) for source in sources if not finders.find(source.partition("static/")[2])]
    assert dead == []


def test_a_search_finds_sections_headings_first_and_there_is_no_other_page(client):
    def results(words):
        return page(client, f"/help/?q={words}").xpath("//*[@class='documentation-result']//a/@href")

    assert results("second+factor+scopes")
    assert results("tokens+SCOPES")[0] == "/help/api/#tokens-and-scopes"
    assert results("%3Cscript%3Exyzzy") == []
    assert page(client, "/help/?q=%3Cscript%3Exyzzy").xpath("//article//script") == []
    assert [client.get(f"/help/{name}/").status_code for name in ("settings", "..%2FREADME")] == [404, 404]
