"""Runs, boards and contestants that a user marked: theirs alone, and found first."""

import pytest
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from experiments.library.annotations import favorites
from experiments.models import Favorite
from tests.cases import each_case
from tests.fixtures import signed_in

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


def test_what_others_hide_can_be_marked_and_is_still_hidden(alice, charlie, talk):
    run = talk("Hello.")

    favorites.mark("run", str(run.pk), by=charlie)
    favorites.mark("board", "nowhere", by=charlie)

    assert "home-favorites" not in signed_in(charlie).get(HOME).content.decode()
    assert favorites.marked(alice) == {"run": [], "board": [], "contestant": []}


def test_programs_mark_list_and_unmark_their_own(alice, charlie, django_user_model):
    client, other = signed_in(alice), signed_in(charlie)
    address = reverse("api-favorites")

    made = client.post(address, {"kind": "contestant", "key": "lab/oak"}, content_type="application/json")
    again = client.post(address, {"kind": "contestant", "key": "lab/oak"}, content_type="application/json")
    one = reverse("api-favorite", args=[made.json()["id"]])

    assert (made.status_code, again.json()["id"]) == (201, made.json()["id"])
    assert client.get(address).json()["results"] == [made.json()]
    assert (other.get(address).json()["results"], other.delete(one).status_code) == ([], 404)
    assert (client.delete(one).status_code, Favorite.objects.count()) == (204, 0)


@each_case(
    ("kind", "key"),
    [("user", "alice"), ("run", "the best"), ("board", ""), ("contestant", "x" * 201), ("contestant", "a\0b")],
    ids=["another kind", "no id", "nothing", "too long", "unstorable"],
)
def test_what_is_no_favorite_is_refused(alice, kind, key):
    with pytest.raises(Invalid):
        favorites.mark(kind, key, by=alice)
    assert not Favorite.objects.exists()


def test_there_is_an_end_to_favorites(alice, monkeypatch):
    monkeypatch.setattr(favorites, "MOST", 1)
    first = favorites.mark("board", "one", by=alice)

    assert favorites.mark("board", "one", by=alice) == first
    with pytest.raises(Forbidden, match="You already have 1 favorites"):
        favorites.mark("board", "two", by=alice)


def test_the_way_back_stays_on_this_site(browser):
    sent = {"kind": "board", "key": "one", "mark": "", "next": "https://elsewhere.example/"}

    assert browser.post(reverse("favorite"), sent)["Location"] == HOME
