"""Boards by the time at which their battles were decided; milestones, on whose scale later battles are read."""

from datetime import UTC, date, datetime

import numpy as np
import pytest
from django.core.cache import caches
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from accounts.errors import Forbidden, Invalid
from experiments.models import Battle
from leaderboard.boards import compute, milestones, ranking, tables
from leaderboard.boards.periods import Period, months_of
from leaderboard.boards.standings import Slice
from leaderboard.models import Ladder, Milestone
from leaderboard.ratings.values import NORMAL
from tests.fixtures import told
from tests.leaderboard import boards
from tests.markup import Page

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def dated(league, monkeypatch):
    """A board of 60 battles: 30 in January 2026, 20 in March, and 10 whose time nobody knows."""
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    ladder = league(contestants=3, battles=60)
    keys = list(ladder.board.battles.order_by("pk").values_list("pk", flat=True))
    last_of_january = datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC)
    for some, at in ((keys[:30], last_of_january), (keys[30:50], datetime(2026, 3, 1, tzinfo=UTC)), (keys[50:], None)):
        Battle.objects.filter(pk__in=some).update(judged=at)
    return ladder


def test_a_period_has_a_first_and_a_last_day_or_is_refused_and_is_offered_by_need(client, league, alice, monkeypatch):
    middle, last = date(2026, 1, 15), date(2026, 2, 28)
    with monkeypatch.context() as today:
        today.setattr(timezone, "now", lambda: NOW)
        for word, days in (
            *(("2026-02", (date(2026, 2, 1), last)), ("30d", (date(2026, 2, 9), date(2026, 3, 10)))),
            *(("2026-01-15..2026-02-28", (middle, last)), ("2026-01-15..2026-01-15", (middle, middle))),
            *(("2026-01-15..", (middle, None)), ("..2026-02-28", (None, last))),
            *(("", (None, None)), ("..", (None, None))),
        ):
            found = Period.read(word)
            assert (found, Period.read(found.word)) == (days, found), word

    ladder = league(contestants=3, battles=30)
    address, page = reverse("api-ladder", args=[ladder.slug]), reverse("ladder", args=[ladder.slug])
    for word in ("soon", "2026", "2026-13", "0d", "2026-02-30..", "2026-03-02..2026-03-01", "30D", "١d"):
        with pytest.raises(Invalid):
            Period.read(word)
        refused = client.get(address, {"period": word})
        assert refused.status_code == 400, word
        assert "Write a month as 2026-11" in refused.json()["errors"]["period"][0], word

    of_one_month = told(client.get(page))
    assert ("Last 30 days" in of_one_month, 'name="since"' in of_one_month) == (False, True)
    boards.board_of(alice, [("model-001", "model-002", "left")], ladder.board)
    Battle.objects.update(judged=None)
    compute.refresh(type(ladder).objects.get(pk=ladder.pk))
    assert 'name="since"' not in told(client.get(page)), "of unknown times"


@pytest.mark.databases
def test_a_period_has_the_battles_decided_in_it_and_the_last_days_are_others_tomorrow(dated, client, monkeypatch):
    january, march, recent, whole = (
        compute.standings(dated, Slice(period=Period.read(word).word)) for word in ("2026-01", "2026-03", "30d", "")
    )

    assert [found.battles for found in (january, march, recent, whole)] == [30, 20, 20, 60]
    assert whole.periods == months_of(dated.board) == ("2026-03", "2026-01")
    exactly = [battle for battle in dated.board.battles.all() if battle.judged and battle.judged.month == 1]
    assert sum(row.ties for row in january.rows) // 2 == sum(battle.winner == "tie" for battle in exactly)
    assert all(row.upper - row.lower > 0 for row in january.rated)
    if connection.vendor == "sqlite":  # PostgreSQL may rather read a table this small as a whole
        assert "battle_of_day" in dated.board.battles.filter(Period.read("2026-01").battles).order_by().explain()

    page = reverse("ladder", args=[dated.slug])
    client.get(page)  # sets the cookies
    first = client.get(page, {"period": "30d"})

    assert client.get(page, {"period": "30d"}, headers={"If-None-Match": first["ETag"]}).status_code == 304
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 4, 20, tzinfo=UTC))
    again = client.get(page, {"period": "30d"}, headers={"If-None-Match": first["ETag"]})

    assert again.status_code == 200
    assert "No battle of this slice is decided yet." in told(again)


def test_page_api_and_files_show_the_same_period_and_contestants_by_period_but_for_too_many_battles(
    client, dated, monkeypatch
):
    page, api, slices = (reverse(name, args=[dated.slug]) for name in ("ladder", "api-ladder", "api-ladder-slices"))
    files = {kind: reverse("ladder-download", args=[dated.slug, kind]) for kind in ("csv", "json", "md")}

    shown = Page(told(client.get(page, {"period": "30d", "control": "position"})))
    by_days = told(client.get(page, {"since": "2026-01-31", "until": "2026-02-01"}))
    found = client.get(api, {"period": "2026-01"}).json()
    rows = boards.csv_rows(client.get(files["csv"], {"period": "2026-01"}))

    current = [one.text for one in shown.root.findall(".//nav[@class='facet']/a[@aria-current='true']")]
    assert current == ["Last 30 days"]
    assert "<dd>20</dd>" in told(client.get(page, {"period": "30d"}))
    assert "<dd>30</dd>" in by_days
    assert 'value="2026-01-31"' in by_days
    assert (found["battles"], found["period"]) == (30, "2026-01-01..2026-01-31")
    assert found["periods"] == ["2026-03", "2026-01"]
    assert [row["name"] for row in rows] == [row["name"] for row in found["rows"]]
    assert client.get(files["json"], {"period": "2026-01"}).json()["battles"] == 30
    assert "Only battles of: period 2026-01-01..2026-01-31." in told(client.get(files["md"], {"period": "2026-01"}))
    matrix = client.get(reverse("api-ladder-matrix", args=[dated.slug]), {"period": "2026-03"}).json()
    met = [cell["wins"] + cell["losses"] + cell["ties"] for line in matrix["lines"] for cell in line["cells"] if cell]
    assert sum(met) == 2 * 20

    found = client.get(slices, {"by": "period"}).json()
    page = Page(told(client.get(reverse("ladder-slices", args=[dated.slug]), {"by": "period"})))

    counts = {one["value"]: one["battles"] for one in found["battles"]}
    assert counts == {"30d": 20, "90d": 50, "2026-03": 20, "2026-01": 30}
    heads = [one.text.strip() for one in page.root.findall(".//th/a")]
    assert heads == ["Last 30 days", "Last 90 days", "2026-03", "2026-01"]
    assert len(page.root.findall(".//tbody/tr/td")) == 3 * 5

    monkeypatch.setattr(ranking, "MOST_IN_PERIOD", 25)
    monkeypatch.setattr(tables, "MOST_IN_PERIOD", 25)
    caches["memory"].clear()
    refused, sliced = client.get(api, {"period": "2026-01"}), client.get(slices, {"by": "period"}).json()
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["period"])
    assert client.get(api, {"period": "2026-03"}).json()["battles"] == 20
    assert ([one["value"] for one in sliced["battles"]], sliced["of"]) == (["30d"], 4)


@pytest.fixture
def ladder(league):
    return league(contestants=4, battles=1200)


@pytest.fixture
def taken(ladder, alice):
    return milestones.take(ladder, name="first_20260101", by=alice, note="The first release.")


def test_owner_and_curators_of_ratings_take_milestones_on_the_page_and_by_programs_which_read_them_by_version_and_date(
    ladder, alice, charlie, curator, client
):
    address, api = (reverse(name, args=[ladder.slug]) for name in ("ladder-milestones", "api-ladder-milestones"))

    def publish(person):
        client.force_login(person)
        asked = {"name": "first_20260101", "note": "The first."}
        return client.post(api, asked, content_type="application/json")

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

    unrated = compute.ensure_ladder(boards.board_of(alice, [("a", "b", "left")]))
    for name in ("first", "first_20260230", "_20260101", "a b_20260101"):
        with pytest.raises(Invalid, match="yyyymmdd"):
            milestones.take(ladder, name=name, by=alice)
    with pytest.raises(Forbidden):
        milestones.take(ladder, name="third_20260101", by=charlie)
    with pytest.raises(Invalid, match="No contestant is rated"):
        milestones.take(unrated, name="third_20260101", by=alice)
    assert milestones.take(ladder, name="third_20260101", by=curator)

    wrong = client.post(address, {"name": "first"})
    assert (wrong.status_code, 'value="first"' in wrong.content.decode()) == (422, True)
    assert client.post(address, {"name": "second_20260101", "note": "Out now."}).status_code == 302
    client.logout()
    page = client.get(address).content.decode()
    assert [words in page for words in ("second_20260101", "Out now.", 'name="note"')] == [True, True, False]
    client.force_login(alice)
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
