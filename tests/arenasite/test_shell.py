"""The header, the first page and the documentation: what each role finds in them, and in how many steps."""

import re
from datetime import timedelta
from urllib.parse import urldefrag

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import ResolverMatch, reverse
from django.utils import timezone

from accounts.models import User
from arenasite import navigation
from arenasite.documentation import pages
from experiments.models import Experiment, ReviewQueue, ReviewRubric, Run
from experiments.workflows import REGISTRY, surface_of
from tests.experiments.api.handlers import routes
from tests.fixtures import signed_in
from tests.markup import Page

pytestmark = pytest.mark.django_db

OUTSIDE = {  # pages that stand in no group
    *("home", "home-now", "notifications", "notifications-menu", "notifications-read", "palette", "documentation"),
    "favorite",
    *("documentation-page", "javascript-catalog", "healthz", "readyz", "metrics", "set-language", "set-theme"),
    *("seat", "seat-join", "seat-now", "seat-revoke"),
    *("login", "logout", "invitation", "invitation-revoke", "first-administrator"),
    # what fields ask while one types
    *("find-people", "find-projects", "find-experiments", "find-runs", "known-tags", "model-menu"),
    *("find-instruments", "find-instruments-without-order"),
    *("openid_connect_login", "openid_connect_callback"),
}


@pytest.fixture
def people(django_user_model):
    return {role: django_user_model.objects.create_user(role, role=role) for role in User.Role.values}


def page_of(client, address="/"):
    answer = client.get(address)
    assert answer.status_code == 200, address
    return Page(answer.content.decode())


def groups(page):
    """Of the header, in order: their names, the addresses in each, and which of them is marked."""
    [header] = page.find("header", class_="site")
    found = {}
    for menu in header.xpath(".//nav[@id='site-menu']/details"):
        links = [link.get("href") for link in menu.iter("a")]
        found[menu.find("summary").text] = links, menu.find("summary").get("aria-current")
    return found


def made(owner, title, state, **fields):
    experiment = Experiment.objects.create(owner=owner, workflow="arena", title=title, config={"max_turns": 4})
    return Run.objects.create(experiment=experiment, seed=1, state=state, **fields)


def test_every_page_stands_in_a_group_or_is_known_to_stand_in_none():
    known = {one.name: one.default_args for address, one in routes() if not address.startswith(("api/", "admin/"))}
    all_groups = (navigation.new(), *navigation.GROUPS, navigation.ACCOUNT)

    def place(name):
        match = ResolverMatch(lambda: None, (), known[name], name)
        return navigation.place_of(match, AnonymousUser(), all_groups)

    assert {name for name in known if not name.startswith("api-") and place(name) is None} == OUTSIDE


def test_groups_are_those_that_the_role_may_open_and_a_workflow_starts_in_two_clicks_and_a_prompt(people):
    menus = {role: groups(page_of(signed_in(who))) for role, who in people.items()}
    assert {role: list(found) for role, found in menus.items()} == {
        role: [*(["New"] if who.may_experiment else []), "Runs", "Library", "Leaderboard", "Review", "Lab"]
        for role, who in people.items()
    }
    assert list(groups(page_of(Client()))) == ["Library", "Leaderboard"]
    assert ("/people/" in menus["admin"]["Lab"][0], "/people/" in menus["researcher"]["Lab"][0]) == (True, False)
    seen = set()
    for role in ("reviewer", "researcher", "curator", "admin"):  # from fewer rights to more
        client = signed_in(people[role])
        links = {address for addresses, _marked in menus[role].values() for address in addresses} - seen
        for address in links:
            assert client.get(address).status_code == 200, (role, address)
        seen |= links

    client = signed_in(people["researcher"])
    [cards] = page_of(client).find("ul", class_="home-cards")
    addresses = [link.get("href") for link in cards.iter("a")]
    homes = [surface_of(slug).home for slug in REGISTRY if surface_of(slug).home]
    assert addresses == [reverse(home) for home in (*homes, "study-new")]
    for address in addresses[:-1]:  # the second click is Start; without a dataset, battles say what is missing
        page = page_of(client, address)
        assert page.find(id="start") or page.find("a", href="/datasets/new/"), address

    assert page_of(signed_in(people["reviewer"])).find("ul", class_="home-cards") == []


def test_a_run_that_failed_yesterday_is_resumed_in_one_click(browser, alice, woken_runs):
    yesterday, long_ago = (timezone.now() - timedelta(days=days) for days in (1, 40))
    run = made(alice, "Broken", Run.State.FAILED, ended=yesterday, stop_reason="provider_error")
    made(alice, "Forgotten", Run.State.FAILED, ended=long_ago)

    [form] = [one for one in page_of(browser).find("form") if one.get("action", "").endswith("/resume/")]
    assert form.get("action") == reverse("run-resume", args=[run.pk])
    browser.post(form.get("action"))
    run.refresh_from_db()
    assert (run.state, woken_runs) == (Run.State.QUEUED, [run.pk])


def test_home_asks_a_bounded_number_of_questions(browser, alice):
    asked = []
    for count in (1, 6):
        for state in Run.State.values * count:
            made(alice, f"A run that is {state}", state, ended=timezone.now(), waiting_since=timezone.now())
        with CaptureQueriesContext(connection) as captured:
            page_of(browser)
        asked.append(len(captured))
    assert asked[0] == asked[1] <= 14


def test_notifications_are_one_s_own_and_counted_until_they_are_read(browser, alice, charlie):
    now, menu = timezone.now(), "/notifications/menu/"
    waits = made(alice, "Waits", Run.State.WAITING, waiting_since=now)
    failed = made(alice, "Failed", Run.State.FAILED, ended=now)
    made(alice, "Over", Run.State.COMPLETED, ended=now)
    queue = ReviewQueue.objects.create(name="Empty", owner=alice, rubric=ReviewRubric.objects.first())
    queue.members.create(user=alice)

    page = page_of(browser, menu)
    [count] = page.find("span", class_="count")
    shown = [link.get("href") for link in page.find("ul", class_="notices-list")[0].iter("a")]
    assert (count.text.split()[0], set(shown)) == ("2", {waits.get_absolute_url(), failed.get_absolute_url()})
    assert page_of(signed_in(charlie), "/notifications/").find("ul", class_="notices-list") == []

    assert browser.post("/notifications/read/")["Location"] == "/notifications/"
    page = page_of(browser, menu)
    assert (page.find("span", class_="count"), len(page.find("time"))) == ([], 2)


def test_a_deep_page_says_what_is_above_it_and_the_palette_finds_what_one_may_open(browser, alice, charlie, people):
    run = made(alice, "Seven solar panels", Run.State.COMPLETED)
    page = page_of(browser, reverse("run-flags", args=[run.pk]))
    assert [name for name, (_links, marked) in groups(page).items() if marked] == ["Runs"]
    [trail] = page.find("nav", class_="crumbs")
    assert [link.get("href") for link in trail.iter("a")] == ["/runs/", run.get_absolute_url()]
    assert page_of(browser, "/runs/").find("nav", class_="crumbs") == []

    def found(client, words):
        told = client.get("/palette/", {"q": words}).json()["groups"]
        return {entry["address"] for group in told for entry in group["entries"]}

    assert {run.get_absolute_url(), reverse("experiment", args=[run.experiment_id])} == found(browser, "panels seven")
    assert found(signed_in(charlie), "panels") == set()
    assert ["/people/" in found(one, "people") for one in (signed_in(people["admin"]), browser)] == [True, False]
    assert "/council/" in found(browser, "council")
    assert {"/", "/runs/", "/arena/"} <= found(browser, "")


def test_visitors_read_every_page_and_no_link_or_picture_in_them_is_dead(client):
    others = [reverse("documentation-page", args=[name]) for name in pages() if name != "index"]
    shown = {address: page_of(client, address).root for address in (reverse("documentation"), *others)}
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
        return page_of(client, f"/help/?q={words}").root.xpath("//*[@class='documentation-result']//a/@href")

    assert results("second+factor+scopes")
    assert results("tokens+SCOPES")[0] == "/help/api/#tokens-and-scopes"
    assert results("%3Cscript%3Exyzzy") == []
    assert page_of(client, "/help/?q=%3Cscript%3Exyzzy").root.xpath("//article//script") == []
    assert [client.get(f"/help/{name}/").status_code for name in ("settings", "..%2FREADME")] == [404, 404]
