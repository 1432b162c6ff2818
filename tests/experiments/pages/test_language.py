"""The language and the theme of the pages: chosen once, kept in this browser and in the account; judge prompts too."""

from django.conf import settings
from django.test import Client
from django.utils.translation import override

from experiments.models.labels import prompt_words
from experiments.workflows.battles.prompts import PROMPTS
from tests.cases import each_case


def language_of(response, read):
    [html] = read(response).find("html")
    return html.get("lang")


def test_a_visitor_reads_the_browsers_language_until_another_is_chosen(visitor, read):
    chinese = {"Accept-Language": "zh-CN,zh;q=0.9"}
    languages = [language_of(visitor.get("/sign-in/", headers=headers), read) for headers in (None, chinese)]
    response = visitor.post("/language/?language=en&next=/", {"language": "zh-hans", "next": "/sign-in/?next=/runs/"})

    assert languages == ["en", "zh-hans"]
    assert response["Location"] == "/sign-in/?next=/runs/"
    assert language_of(visitor.get("/sign-in/"), read) == "zh-hans"


def test_the_choice_of_a_person_holds_in_every_browser_of_theirs_and_for_nobody_else(browser, alice, charlies, read):
    for unknown in ("fr", "", "en; path=/"):
        assert browser.post("/language/", {"language": unknown}).status_code == 302
        assert settings.LANGUAGE_COOKIE_NAME not in browser.cookies
    browser.post("/language/", {"language": "zh-hans", "next": "/account/"})
    elsewhere = Client()
    elsewhere.force_login(alice)

    assert language_of(elsewhere.get("/account/"), read) == "zh-hans"
    assert language_of(charlies.get("/account/"), read) == "en"
    browser.post("/language/", {"language": "en"})
    asked = browser.get("/account/", headers={"Accept-Language": "zh-CN"})
    assert language_of(asked, read) == "en", "a choice wins over the browser's wish"


@each_case("target", ["https://evil.example/", "//evil.example", "javascript:alert(1)", ""])
@each_case("switch", ["/language/", "/theme/"])
def test_a_switch_never_leads_elsewhere(visitor, switch, target):
    assert visitor.post(switch, {"language": "en", "theme": "dark", "next": target})["Location"] == "/"


@each_case(("theme", "shown"), [("dark", "dark"), ("neon", "auto"), ("", "auto"), ('"><script>', "auto")])
def test_a_theme_that_is_offered_is_kept_and_shown(visitor, read, theme, shown):
    visitor.post("/theme/", {"theme": theme, "next": "/sign-in/"})
    visitor.cookies["arena_theme"] = theme or "x"

    [html] = read(visitor.get("/sign-in/")).find("html")
    assert html.get("data-theme") == shown


def test_judge_prompts_that_come_along_are_named_in_both_languages_and_others_as_they_say():
    assert prompt_words("Which haiku is the sadder one") == "Which haiku is the sadder one"
    for prompt in PROMPTS.values():
        for words in (prompt.title, prompt.description):
            assert str(prompt_words(words)) == words
            with override("zh-hans"):
                assert str(prompt_words(words)) != words
