"""Runs, boards and contestants that a user marked: theirs alone, and found first."""

import pytest
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from experiments.library.annotations import favorites
from experiments.models import Favorite
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
