"""Ratings of a board from unseen samples alone, beside those from all, with a planted contamination."""

import csv
import io
from datetime import date

import numpy as np
import pytest
from django.urls import reverse

from accounts.errors import Invalid
from experiments.library.datasets import contestants
from experiments.models import Contestant, Sample
from leaderboard.boards import compute, contamination
from leaderboard.ratings import Battles, fit
from tests.fixtures import told
from tests.leaderboard import boards
from tests.making import maker

RELEASED = {"knew": date(2026, 6, 1), "middle": date(2026, 1, 1), "other": date(2026, 1, 1)}
BEFORE, AFTER = "2026-03-01", "2026-06-01"  # the first is before one of them was released


@maker
def planted(alice, /, count=600, days=(BEFORE, BEFORE, AFTER), released=RELEASED, **fields):
    """Makes a board of three equal contestants, one of which wins far more often on samples published BEFORE."""
    random, names = np.random.default_rng(11), list(RELEASED)
    battles = []
    for number in range(count):
        a, b = random.permutation(names)[:2].tolist()
        known = days[number % len(days)] == BEFORE
        lean = ((a == "knew") - (b == "knew")) * 1.5 * known
        battles.append((a, b, "left" if random.random() < 1 / (1 + np.exp(-lean)) else "right"))
    board = boards.board_of(alice, battles, **{"visibility": "public", **fields})
    samples = list(board.dataset.samples.order_by("index"))
    for number, sample in enumerate(samples):
        sample.metadata = {"published": day} if (day := days[number % len(days)]) else {}
    Sample.objects.bulk_update(samples, ["metadata"], batch_size=500)
    for name, day in released.items():
        one = Contestant.objects.get(dataset=board.dataset, name=name)
        contestants.enter(one, by=alice, released=day)
    return compute.ensure_ladder(board)


def rated(rows):
    return {row.name: row for row in rows}


@pytest.mark.databases
def test_a_contaminated_board_is_wrong_as_a_whole_and_right_on_unseen_samples(planted):
    ladder = planted()

    whole, found = rated(compute.standings(ladder).rows), compute.unseen(ladder)

    knew = rated(found.rows)["knew"]
    assert whole["knew"].lower > 1030
    assert all(row.lower < 1000 < row.upper for row in found.rows), "all are equally good"
    assert knew.moves_lower < knew.moves < knew.moves_upper < -30
    assert knew.rating - whole["knew"].rating == pytest.approx(knew.moves, abs=1e-5)
    assert knew.released == "2026-06-01"
    assert compute.standings(ladder).rows == tuple(whole.values()), "plain ratings do not change"


def test_a_battle_between_two_for_whom_a_sample_was_new_counts_whoever_else_had_seen_it(planted):
    ladder = planted(120)
    rows = ladder.board.battles.select_related("left", "right", "sample")

    found = compute.unseen(ladder)

    seen = [
        one for one in rows
        if one.sample.metadata["published"] == BEFORE and "knew" in (one.left.name, one.right.name)
    ]  # fmt: skip
    kept = [one for one in rows if one not in seen]
    assert (found.seen, found.battles, found.unknown, found.of) == (len(seen), len(kept), 0, 120)
    names = sorted(RELEASED)
    lefts, rights = ([names.index(getattr(one, side).name) for one in kept] for side in ("left", "right"))
    alone = fit(Battles(lefts, rights, [one.winner == "left" for one in kept], names))
    shift = found.row("middle").rating - alone["middle"]
    assert [found.row(name).rating - shift for name in names] == pytest.approx(alone.values, abs=1e-4)
    met = [one for one in kept if "other" in (one.left.name, one.right.name)]
    assert found.row("other").battles == len(met)


def test_what_has_no_date_is_named_and_not_taken_for_unseen_and_without_dates_nothing_is_offered(
    client, planted, league
):
    ladder = planted(
        80, days=(BEFORE, AFTER, "", "soon"), released={"knew": RELEASED["knew"], "other": date(2026, 1, 1)}
    )

    found = compute.unseen(ladder)

    assert (found.samples, found.undated) == (80, 40)
    assert found.undated_samples[:3] == ("2", "3", "6")
    assert found.undated_contestants == ("middle",)
    assert found.battles + found.seen + found.unknown == found.of == 80
    of_middle = ladder.board.battles.filter(sample__metadata__published=AFTER)
    assert found.battles == sum("middle" not in (one.left.name, one.right.name) for one in of_middle)
    assert found.row("middle").reason == "no_battles"

    bare = league()
    refused = client.get(reverse("api-ladder", args=[bare.slug]), {"unseen": "1"})
    assert 'name="unseen"' not in told(client.get(bare.get_absolute_url()))
    assert (refused.status_code, "column “published”" in refused.json()["errors"]["unseen"][0]) == (400, True)


def test_page_files_and_api_show_both_ratings_their_difference_and_what_has_no_date(client, planted):
    ladder, query = planted(300, days=(BEFORE, AFTER, "")), {"unseen": "1", "sort": "unseen"}
    api = reverse("api-ladder", args=[ladder.slug])

    page, plain_page = (" ".join(told(client.get(ladder.get_absolute_url(), of)).split()) for of in (query, {}))
    plain, both = client.get(api).json(), client.get(api, query).json()
    files = {
        kind: told(client.get(reverse("ladder-download", args=[ladder.slug, kind]), query)) for kind in ("csv", "md")
    }

    found = {row["name"]: row for row in both["unseen"]["rows"]}
    assert plain["unseen"] is None
    assert plain["rows"] == both["rows"]
    assert "Points on unseen samples" in page
    assert "<dt>Unseen samples</dt><dd>Rating from samples alone" in page
    assert "100 of 300 samples:" in page
    assert 'name="unseen"' in plain_page
    assert "Points on unseen samples" not in plain_page
    for row in csv.DictReader(io.StringIO(files["csv"])):
        assert float(row["unseen_rating"]) == found[row["name"]]["rating"] != float(row["rating"])
        assert float(row["unseen_moves"]) == found[row["name"]]["moves"]
    assert "Unseen samples: " in files["md"]
    assert f"knew: {found['knew']['moves']:+.1f} points on unseen samples" in files["md"]
    body = page[page.index("<tbody>") :]
    assert sorted(found, key=body.index) == sorted(found, key=lambda name: -found[name]["rating"])


def test_a_slice_and_a_date_entered_later_change_what_is_unseen(client, planted, alice, monkeypatch):
    ladder = planted(90)
    api = reverse("api-ladder", args=[ladder.slug])

    before = client.get(api, {"unseen": "1"}).json()["unseen"]
    one = Contestant.objects.get(dataset=ladder.board.dataset, name="other")
    contestants.enter(one, by=alice, released=date(2026, 12, 1))
    after = client.get(api, {"unseen": "1"}).json()["unseen"]
    nothing = client.get(api, {"unseen": "1", "period": "2020-01"}).json()["unseen"]

    assert after["battles"] < before["battles"]
    assert after["seen"] > before["seen"]
    assert (nothing["of"], nothing["rows"], nothing["reason"]) == (0, [], "no_battles")
    monkeypatch.setattr(contamination, "MOST_ADJUSTED", 89)
    with pytest.raises(Invalid, match="89"):
        contamination.unseen(ladder)
