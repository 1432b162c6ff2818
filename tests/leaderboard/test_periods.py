"""Boards by the time at which their battles were decided: on pages, in the API and in files."""

import csv
import io
from datetime import UTC, date, datetime

import pytest
from django.core.cache import caches
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from accounts.errors import Invalid
from experiments.models import Battle
from leaderboard.boards import compute, ranking, tables
from leaderboard.boards.periods import Period, months_of
from leaderboard.boards.standings import Slice
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


def test_page_api_and_files_show_the_same_period(client, dated):
    page, api = reverse("ladder", args=[dated.slug]), reverse("api-ladder", args=[dated.slug])
    files = {kind: reverse("ladder-download", args=[dated.slug, kind]) for kind in ("csv", "json", "md")}

    shown = Page(told(client.get(page, {"period": "30d", "control": "position"})))
    by_days = told(client.get(page, {"since": "2026-01-31", "until": "2026-02-01"}))
    found = client.get(api, {"period": "2026-01"}).json()
    rows = list(csv.DictReader(io.StringIO(told(client.get(files["csv"], {"period": "2026-01"})))))

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


def test_contestants_stand_beside_each_other_by_period_but_for_those_of_too_many_battles(client, dated, monkeypatch):
    api, slices = (reverse(name, args=[dated.slug]) for name in ("api-ladder", "api-ladder-slices"))

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
