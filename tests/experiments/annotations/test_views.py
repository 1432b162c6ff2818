"""Filters under a name, one's own or a project's; and runs, boards and contestants that a user marked as favorites."""

import pytest
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from accounts.models import User
from experiments.library.annotations import favorites, saved_views
from experiments.models import Favorite, SavedView
from tests.fixtures import signed_in

RUNS = reverse("runs")


def test_a_view_leads_to_its_filters_and_the_default_one_is_shown_where_nothing_is_asked_for(browser, read, alice):
    assert saved_views.normal("state=failed&page=3&search=&tag=a%20b") == saved_views.normal("tag=a+b&state=failed")
    view = saved_views.save(by=alice, name="Failed", query="state=failed&page=2", is_default=True)
    page = read(browser.get(view.get_absolute_url()))
    [current] = [link for link in page.find("a", aria_current="page") + page.find("a") if link.text == "Failed"][-1:]

    assert view.get_absolute_url() == f"{RUNS}?state=failed"
    assert current.get("aria-current") == "page"
    assert "Change this view" in page.text
    assert not SavedView.objects.visible_to(User(pk=alice.pk, is_active=False)).exists()

    newer = saved_views.save(by=alice, name="Odd", query="tag=odd", is_default=True)
    saved_views.save(by=alice, name="Even", query="tag=even")
    assert browser.get(RUNS)["Location"] == newer.get_absolute_url()
    assert browser.get(RUNS, {"whose": "mine"}).status_code == 200
    assert SavedView.objects.filter(is_default=True).count() == 1
    for name, query in (("", "a=b"), ("x" * 61, "a=b"), ("x", "a=" + "b" * 1000)):
        with pytest.raises(Invalid):
            saved_views.save(by=alice, name=name, query=query)


def test_a_view_is_kept_from_the_list_renamed_and_deleted(browser, alice, project):
    sent = {"name": "Failed", "query": "state=failed", "project": str(project.pk), "is_default": "on"}
    answer = browser.post(reverse("view-new"), sent)
    view = SavedView.objects.get()
    assert answer["Location"] == view.get_absolute_url()
    assert (view.owner, view.project, view.is_default) == (alice, project, True)
    assert browser.post(reverse("view-new"), sent).status_code == 422

    browser.post(reverse("view", args=[view.pk]), {"name": "Broken"})
    view.refresh_from_db()
    assert (view.name, view.query) == ("Broken", "state=failed")
    browser.post(reverse("view-delete", args=[view.pk]))
    assert not SavedView.objects.exists()


def test_members_find_the_views_of_their_projects_and_change_none(alice, mia, charlie, project):
    view = saved_views.save(by=alice, name="Failed", query="state=failed", project=str(project.pk))

    assert "Failed" in signed_in(mia).get(RUNS).content.decode()
    assert "Failed</a>" not in signed_in(charlie).get(RUNS).content.decode()
    assert signed_in(mia).get(reverse("view", args=[view.pk])).status_code == 404
    with pytest.raises(Forbidden):
        saved_views.remove(view, by=mia)
    with pytest.raises(Invalid):
        saved_views.save(by=charlie, name="Failed", query="state=failed", project=str(project.pk))


def test_programs_keep_and_change_views(api, project):
    made = api.post("views/", {"name": "Failed", "query": "state=failed", "project": str(project.pk)}).json()
    address = f"views/{made['id']}/"

    assert [view["name"] for view in api.get("views/").json()["results"]] == ["Failed"]
    assert api.patch(address, {"is_default": True}).json() == {**made, "is_default": True}
    assert api.patch(address, {"project": ""}).json()["project"] is None
    assert api.post("views/", {"name": "failed", "query": ""}).status_code == 201
    assert api.patch(address, {"name": "failed"}).status_code == 400
    assert api.delete(address).status_code == 204


HOME = reverse("home")


def test_the_button_marks_a_run_which_is_then_first_on_the_home_page(browser, read, alice, talk):
    run = talk("Hello.")
    sent = {"kind": "run", "key": str(run.pk), "next": run.get_absolute_url()}

    back = browser.post(reverse("favorite"), {**sent, "mark": ""})
    assert back["Location"] == run.get_absolute_url()
    [button] = [one for one in read(browser.get(run.get_absolute_url())).find("button") if one.get("name") == "unmark"]
    assert button.get("aria-pressed") == "true"
    assert "home-favorites" in browser.get(HOME).content.decode()

    part = browser.post(reverse("favorite"), {**sent, "unmark": ""}, headers={"HX-Request": "true"})
    assert 'aria-pressed="false"' in part.content.decode()
    assert f'id="favorite-run-{run.pk}"' in part.content.decode(), "by which the page knows it again"
    assert "home-favorites" not in browser.get(HOME).content.decode()
    away = {**sent, "mark": "", "next": "https://elsewhere.example/"}
    assert browser.post(reverse("favorite"), away)["Location"] == HOME, "the way back stays on this site"


def test_what_others_hide_can_be_marked_and_is_still_hidden(alice, charlie, talk):
    run = talk("Hello.")

    favorites.mark("run", str(run.pk), by=charlie)
    favorites.mark("board", "nowhere", by=charlie)

    assert "home-favorites" not in signed_in(charlie).get(HOME).content.decode()
    assert favorites.marked(alice) == {"run": [], "board": [], "contestant": []}


def test_what_is_no_favorite_or_too_many_is_refused(alice, monkeypatch):
    too_long, unstorable = ("contestant", "x" * 201), ("contestant", "a\0b")
    for kind, key in (("user", "alice"), ("run", "the best"), ("board", ""), too_long, unstorable):
        with pytest.raises(Invalid):
            favorites.mark(kind, key, by=alice)
    assert not Favorite.objects.exists()

    monkeypatch.setattr(favorites, "MOST", 1)
    first = favorites.mark("board", "one", by=alice)
    assert favorites.mark("board", "one", by=alice) == first
    with pytest.raises(Forbidden, match="You already have 1 favorites"):
        favorites.mark("board", "two", by=alice)
