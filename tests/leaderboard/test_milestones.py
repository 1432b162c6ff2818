"""Milestones never change; what came later is read on their scale."""

import numpy as np
import pytest
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from leaderboard.boards import compute, milestones, ranking
from leaderboard.models import Ladder, Milestone
from leaderboard.ratings.values import NORMAL
from tests.leaderboard import boards


@pytest.fixture
def ladder(league):
    return league(contestants=4, battles=1200)


@pytest.fixture
def taken(ladder, alice):
    return milestones.take(ladder, name="first_20260101", by=alice, note="The first release.")


def test_programs_publish_milestones_and_read_them_by_version_and_date(ladder, alice, charlie, client):
    address = reverse("api-ladder-milestones", args=[ladder.slug])

    def publish(person):
        client.force_login(person)
        asked = {"name": "first_20260101", "note": "The first."}
        return client.post(address, asked, content_type="application/json")

    def results(part="milestones", **asked):
        return client.get(f"/api/ladders/{ladder.slug}/{part}/", asked).json()["results"]

    refused, made, again = publish(charlie), publish(alice), publish(alice)
    compute.note_history(ladder, compute.standings(ladder))

    assert (refused.status_code, made.status_code, again.status_code) == (403, 201, 400)
    [found] = results()
    assert found == made.json()
    assert [found[name] for name in ("name", "note", "version", "date")] == [
        *("first_20260101", "The first.", "first", "2026-01-01")
    ]
    assert [row["name"] for row in found["ratings"]] == ladder.milestones.get().contestants
    assert all(row["lower"] < row["rating"] < row["upper"] for row in found["ratings"])
    assert (results(version="second"), results(date="2026-01-01")) == ([], [found])
    assert {point["name"] for point in results("history", name="model-002")} == {"model-002"}
    Ladder.objects.update(withdrawn_reason="Wrong prompt.")
    assert results() == results("history") == []


def test_milestones_of_a_folder_are_taken_over_where_they_can_be_used_and_theirs(ladder, taken, alice):
    told = milestones.document(ladder)["milestones"][0]
    for changed in (
        {"name": "second_20260230"},
        *({"ratings": wrong} for wrong in ([1.0], [float("nan")] * 4)),
        *({"covariance": [[0.0] * 4] * 3}, {"taken": "yesterday"}, {"note": "a\0b"}, {"battles": -1}, {"more": 1}),
    ):
        content = {"milestones": [{**told, "name": "second_20260201", **changed}]}
        [left_out] = milestones.take_over(ladder, by=alice, content=content)
        assert f"milestones.0.{next(iter(changed))}" in left_out or "milestones.0 " in left_out, changed
    assert ladder.milestones.count() == 1

    second, other = {**told, "name": "second_20260201"}, {**told, "ratings": [1.0, 2.0, 3.0, 4.0]}
    stranger = {**told, "name": "third_20260301", "contestants": ["a", "b", "c", "d"]}
    left_out = milestones.take_over(ladder, by=alice, content={"milestones": [told, second, other, stranger]})
    assert [sentence.partition(":")[0] for sentence in left_out] == [
        "The board has another milestone first_20260101. It was kept.",
        "The milestone third_20260301 was left out",
    ]
    new = ladder.milestones.get(name="second_20260201")
    assert (new.taken, new.ratings, new.by) == (taken.taken, taken.ratings, alice)
    assert ladder.milestones.get(name="first_20260101").ratings == taken.ratings
    assert ladder.milestones.count() == 2


def test_what_is_kept_for_good_is_made_of_all_battles_however_many_they_are(ladder, alice, monkeypatch):
    exact = compute.standings(ladder)
    monkeypatch.setattr(ranking, "MOST_READ", 50)

    taken = milestones.take(ladder, name="first_20260101", by=alice)

    reach = {row.name: (row.upper - row.lower) / 2 for row in exact.rows}
    errors = dict(zip(taken.contestants, NORMAL * np.sqrt(np.diag(taken.covariance)), strict=True))
    assert errors == pytest.approx(reach, abs=1e-4)


def test_milestones_are_dated_and_taken_by_owner_and_curators_of_ratings(client, ladder, alice, charlie, curator):
    unrated = compute.ensure_ladder(boards.board_of(alice, [("a", "b", "left")]))
    for name in ("first", "first_20260230", "_20260101", "a b_20260101"):
        with pytest.raises(Invalid, match="yyyymmdd"):
            milestones.take(ladder, name=name, by=alice)
    with pytest.raises(Forbidden):
        milestones.take(ladder, name="first_20260101", by=charlie)
    with pytest.raises(Invalid, match="No contestant is rated"):
        milestones.take(unrated, name="first_20260101", by=alice)
    assert milestones.take(ladder, name="first_20260101", by=curator)

    address = reverse("ladder-milestones", args=[ladder.slug])
    client.force_login(alice)
    wrong = client.post(address, {"name": "first"})
    assert (wrong.status_code, 'value="first"' in wrong.content.decode()) == (422, True)
    assert client.post(address, {"name": "second_20260101", "note": "Out now."}).status_code == 302
    client.logout()
    page = client.get(address).content.decode()
    assert [words in page for words in ("second_20260101", "Out now.", 'name="note"')] == [True, True, False]


def test_a_milestone_keeps_its_ratings_and_later_ones_are_put_on_its_scale_beside_them(client, ladder, taken, alice):
    before = {row.name: row for row in compute.standings(ladder).rows}
    battles = [("model-001", "new", "left"), ("new", "model-002", "left"), ("new", "model-003", "tie")] * 30
    boards.board_of(alice, [*battles, ("model-004", "new", "right"), ("model-004", "new", "left")], ladder.board)
    compute.refresh(ladder)

    kept = Milestone.objects.get()
    assert dict(zip(kept.contestants, kept.ratings, strict=True)) == pytest.approx(
        {name: row.rating for name, row in before.items()}
    )
    assert (np.array(kept.covariance).shape, kept.battles) == ((4, 4), 1200)
    with pytest.raises(Invalid, match="cannot be changed"):
        milestones.take(ladder, name="first_20260101", by=alice)

    found = milestones.compared(taken)
    page = client.get(reverse("ladder-milestones", args=[ladder.slug])).content.decode()
    lines = {line.name: line for line in found.lines}
    now = {name: line.now for name, line in lines.items()}
    assert found.common == 4
    assert np.mean([now[name].rating for name in taken.contestants]) == pytest.approx(np.mean(taken.ratings))
    free = {row.name: row.rating for row in compute.standings(ladder).rows}
    assert {name: one.rating - found.shift for name, one in now.items()} == pytest.approx(free)
    assert all(one.lower < one.rating < one.upper for one in now.values())
    assert lines["new"].published is None
    for name in taken.contestants:
        assert lines[name].published.lower == pytest.approx(before[name].lower, abs=1e-3)
        assert f"{before[name].lower:.0f} to {before[name].upper:.0f}" in page

    Milestone.objects.update(covariance=np.zeros((4, 4)).tolist())
    exact = {line.name: line.fixed for line in milestones.compared(Milestone.objects.get()).lines}
    assert [name for name, line in lines.items() if line.fixed] == ["new"], "newcomers alone are fitted"
    wide, narrow = lines["new"].fixed, exact["new"]
    assert wide.rating == pytest.approx(narrow.rating)
    assert wide.upper - wide.lower > narrow.upper - narrow.lower, "it carries the uncertainty of the anchors"
