"""The language of the pages: chosen once, kept in this browser and in the account."""

import pytest
from django.conf import settings
from django.test import Client

from tests.cases import each_case

pytestmark = pytest.mark.django_db

SIGN_IN = "登录"
ACCOUNT = "账号"


def language_of(response, read):
    [html] = read(response).find("html")
    return html.get("lang")


def test_a_visitor_reads_english_unless_the_browser_says_otherwise(visitor, read):
    assert language_of(visitor.get("/sign-in/"), read) == "en"
    response = visitor.get("/sign-in/", headers={"Accept-Language": "zh-CN,zh;q=0.9"})
    assert language_of(response, read) == "zh-hans"
    assert SIGN_IN in read(response).text


def test_a_visitor_chooses_and_comes_back_to_the_page(visitor, read):
    response = visitor.post("/language/", {"language": "zh-hans", "next": "/sign-in/?next=/runs/"})

    assert response["Location"] == "/sign-in/?next=/runs/"
    assert SIGN_IN in read(visitor.get("/sign-in/")).text


def test_the_choice_of_a_person_holds_in_every_browser_of_theirs(browser, alice, read):
    browser.post("/language/", {"language": "zh-hans", "next": "/account/"})
    elsewhere = Client()
    elsewhere.force_login(alice)

    assert ACCOUNT in read(elsewhere.get("/account/")).text
    assert language_of(elsewhere.get("/account/"), read) == "zh-hans"


def test_choosing_english_again_wins_over_the_browsers_wish(browser, read):
    browser.post("/language/", {"language": "zh-hans"})
    browser.post("/language/", {"language": "en"})

    assert language_of(browser.get("/account/", headers={"Accept-Language": "zh-CN"}), read) == "en"


def test_the_choice_of_one_person_is_not_anothers(browser, charlies, read):
    browser.post("/language/", {"language": "zh-hans"})

    assert language_of(charlies.get("/account/"), read) == "en"


@each_case("language", ["fr", "", "xx", "en; path=/", "../../etc", "<script>"])
def test_a_language_that_is_not_offered_changes_nothing(browser, alice, read, language):
    response = browser.post("/language/", {"language": language})

    alice.refresh_from_db()
    assert (response.status_code, alice.language) == (302, "")
    assert settings.LANGUAGE_COOKIE_NAME not in browser.cookies
    assert language_of(browser.get("/account/"), read) == "en"


@each_case("target", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "", "/\\evil.example"])
@each_case("switch", ["/language/", "/theme/"])
def test_a_switch_never_leads_elsewhere(visitor, switch, target):
    assert visitor.post(switch, {"language": "en", "theme": "dark", "next": target})["Location"] == "/"


def test_a_theme_is_kept_and_shown(visitor, read):
    visitor.post("/theme/", {"theme": "dark", "next": "/sign-in/"})

    [html] = read(visitor.get("/sign-in/")).find("html")
    assert html.get("data-theme") == "dark"


@each_case("theme", ["neon", "", '"><script>'])
def test_a_theme_that_is_not_offered_changes_nothing(visitor, read, theme):
    visitor.post("/theme/", {"theme": theme})
    visitor.cookies["arena_theme"] = theme or "x"

    [html] = read(visitor.get("/sign-in/")).find("html")
    assert html.get("data-theme") == "auto"


@pytest.mark.parametrize("switch", ["/language/", "/theme/"])
def test_switches_are_posted(visitor, switch):
    assert visitor.get(switch).status_code == 405
