"""A person's own page, tokens, language and theme; signing in and out; what strangers and other sites find."""

import re
from itertools import product
from uuid import UUID

from django.conf import settings
from django.test import Client, override_settings
from django.urls import reverse
from django.utils.translation import override

from accounts.models import ApiToken
from arenasite import demo
from experiments.models import Export, Run
from experiments.models.labels import prompt_words
from experiments.workflows.battles.prompts import PROMPTS
from tests.fixtures import PASSWORD

ACCOUNT = "/account/"
NOWHERE = UUID("00000000-0000-7000-8000-000000000000")


def test_a_new_token_is_shown_once_and_opens_the_api_until_it_is_revoked_and_one_that_makes_no_sense_is_not_made(
    browser, read, alice
):
    for typed, field in (
        ({"name": "a\x00b", "days": "5"}, "name"),
        ({"name": "x", "days": "366"}, "days"),
        ({"name": "x", "days": "5", "scopes": ["fly"]}, None),
    ):
        page = read(browser.post(ACCOUNT, {"scopes": ["read"], **typed}))
        assert page.find(id=f"id_{field}-error") or field is None
        assert page.by_id("id_name").get("value") == typed["name"].replace("\0", "\ufffd")
        assert not ApiToken.objects.exists()

    name = '"><script>alert(1)</script>'
    response = browser.post(ACCOUNT, {"name": name, "days": "30", "scopes": ["read"]})
    token, shown = ApiToken.objects.get(user=alice), read(response).by_id("new-token").get("value")
    headers = {"Authorization": f"Bearer {shown}"}
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert (token.name, token.scopes) == (name, ["read"])

    assert Client().get("/api/runs/", headers=headers).status_code == 200
    html, page = browser.get(ACCOUNT).content.decode(), read(browser.get(ACCOUNT))
    assert shown not in html
    assert "<script>alert" not in html
    assert token.token_key in page.text

    revoke = reverse("token-revoke", args=[token.token_key])
    assert browser.get(revoke).status_code == 405
    assert browser.post(revoke)["Location"] == ACCOUNT
    assert Client().get("/api/runs/", headers=headers).status_code == 401


def test_signing_in_leads_to_the_page_that_was_asked_for_never_elsewhere_and_wrong_passwords_and_names_look_alike(
    alice, client, django_user_model, read
):
    targets = ("/runs/", "https://evil.example/", "//evil.example", "javascript:alert(1)", "")
    for path, target in product(("/sign-in/", "/language/", "/theme/"), targets):
        sent = {"username": "alice", "password": PASSWORD, "language": "en", "theme": "dark", "next": target}
        assert Client().post(path, sent)["Location"] == (target if target == "/runs/" else "/"), (path, target)

    django_user_model.objects.create_user("gone", password=PASSWORD, is_active=False)
    for name, password in (("alice", "wrong"), ("nobody", PASSWORD), ("gone", PASSWORD), ("a\x00", "b\x00")):
        response = client.post("/sign-in/", {"username": name, "password": password})
        assert (response.status_code, "Wrong name or password" in read(response).text) == (200, True), name
    assert demo.PASSWORD not in client.get("/sign-in/").content.decode()
    with override_settings(DEMO_MODE=True):
        assert demo.PASSWORD in client.get("/sign-in/").content.decode(), "a demo alone shows its people's"
    assert client.get("/runs/?page=2")["Location"] == f"{reverse('login')}?next=/runs/%3Fpage%3D2"


def test_signing_out_ends_the_session_and_leads_to_the_door(browser, read):
    assert browser.get("/sign-in/")["Location"] == "/", "whoever is signed in needs no door"
    assert browser.get("/sign-out/").status_code == 405
    for path in ("/arena/", "/account/", "/runs/", "/leaderboard/", "/account/password/"):
        [form] = read(browser.get(path)).find("form", action="/sign-out/")
        assert form.get("method") == "post", path

    assert browser.post("/sign-out/")["Location"] == "/sign-in/"
    assert browser.get("/runs/").status_code == 302
    assert not read(browser.get("/sign-in/")).find("form", action="/sign-out/")


def without_tokens(response):
    """Neither form tokens nor its own address, which differ between any two requests."""
    return re.sub(r'.*(csrfmiddlewaretoken|name="next").*', "", response.content.decode())


def test_charlie_sees_what_does_not_exist(charlies, played, alice, make_files):
    """The very page of an address that leads nowhere. That it is refused everywhere is proved by the rights matrix."""
    run = played(max_turns=1)
    file = Export.objects.create(run=run, owner=alice, format="csv", language="en", last_seq=1, name="alices.csv")
    make_files()
    hidden = {"run": run, "run-status": run, "call": run.calls.first(), "file": file, "file-download": file}
    for name, row in hidden.items():
        answer, empty = charlies.get(reverse(name, args=[row.pk])), charlies.get(reverse(name, args=[NOWHERE]))
        assert (answer.status_code, empty.status_code) == (404, 404)
        assert without_tokens(answer) == without_tokens(empty), name


def test_a_form_of_another_site_changes_nothing(alice, arena, start, read):
    run = start(arena())
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(alice)
    of_run = [reverse(name, args=[run.pk]) for name in ("run-stop", "run-resume", "run-files")]

    for path in (*of_run, *map(reverse, ("arena", "account", "logout", "set-language", "run-import"))):
        response = careful.post(path)
        assert response.status_code == 403, path
        assert "Nothing was changed" in read(response).text
    assert Run.objects.get().state == Run.State.QUEUED


def language_of(response, read):
    return read(response).find("html")[0].get("lang")


def test_a_language_and_a_theme_are_a_browsers_until_chosen_and_a_persons_choice_holds_in_all_of_theirs(
    client, read, browser, alice, charlies
):
    chinese = {"Accept-Language": "zh-CN,zh;q=0.9"}
    languages = [language_of(client.get("/sign-in/", headers=headers), read) for headers in (None, chinese)]
    response = client.post("/language/?language=en&next=/", {"language": "zh-hans", "next": "/sign-in/?next=/runs/"})

    assert languages == ["en", "zh-hans"]
    assert response["Location"] == "/sign-in/?next=/runs/"
    assert language_of(client.get("/sign-in/"), read) == "zh-hans"

    for theme, shown in {"dark": "dark", "neon": "auto", "": "auto", '"><script>': "auto"}.items():
        client.post("/theme/", {"theme": theme, "next": "/sign-in/"})
        client.cookies["arena_theme"] = theme or "x"
        assert read(client.get("/sign-in/")).find("html")[0].get("data-theme") == shown

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


def test_judge_prompts_that_come_along_are_named_in_both_languages_and_others_as_they_say():
    assert prompt_words("Which haiku is the sadder one") == "Which haiku is the sadder one"
    for prompt in PROMPTS.values():
        for words in (prompt.title, prompt.description):
            assert str(prompt_words(words)) == words
            with override("zh-hans"):
                assert str(prompt_words(words)) != words
