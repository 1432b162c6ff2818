"""Ratings beside the plain ones: adjusted for style and upstream, people and judges combined, of unseen samples."""

from datetime import date
from functools import partial

import numpy as np
import pytest
from django.urls import reverse

from accounts.errors import Invalid
from experiments.library.datasets import contestants
from experiments.models import Battle, Call, Contestant, Output, Run, Sample, Step
from experiments.models.ids import new_id
from experiments.runs.upstreams import mixed
from experiments.workflows.battles.campaign import boards as all_boards
from experiments.workflows.battles.campaign import counting
from leaderboard.boards import compute, contamination, style
from leaderboard.models import Style
from leaderboard.ratings import Battles, fit
from leaderboard.ratings.style import COVARIATES
from tests.fixtures import told
from tests.leaderboard import boards
from tests.leaderboard.boards import csv_rows
from tests.making import maker

LENGTHS = {"brief": 100, "middle": 200, "wordy": 400}


@maker
def leaning(alice, /, count=400, **fields):
    """Makes a board of three equal contestants whose judge leans to the longer text."""
    random, names = np.random.default_rng(7), list(LENGTHS)
    met = [tuple(random.permutation(names)[:2].tolist()) for _ in range(count)]
    lengths = [{name: int(LENGTHS[name] * random.lognormal(0, 0.4)) for name in pair} for pair in met]
    chances = [1 / (1 + np.exp(-2 * np.log(at[a] / at[b]))) for (a, b), at in zip(met, lengths, strict=True)]
    battles = [(a, b, "left" if random.random() < won else "right") for (a, b), won in zip(met, chances, strict=True)]
    board = boards.board_of(alice, battles, **{"visibility": "public", **fields})
    key = dict(board.dataset.contestants.values_list("name", "pk"))
    samples = board.dataset.samples.order_by("index").values_list("pk", flat=True)
    Output.objects.bulk_create(
        Output(sample_id=sample, contestant_id=key[name], text="a" * length)
        for sample, at in zip(samples, lengths, strict=True)
        for name, length in at.items()
    )
    return compute.ensure_ladder(board)


@pytest.mark.databases
def test_a_lean_to_length_is_found_and_held_equal_beside_plain_ratings(client, leaning):
    ladder, asked_for = leaning(), {"control": "style"}
    api, file = reverse("api-ladder", args=[ladder.slug]), partial(reverse, "ladder-download")
    found = compute.styled(ladder, COVARIATES)
    told = {one.name: one for one in found.covariates}

    plain, both = client.get(api).json(), client.get(api, asked_for).json()
    plain_page, page = (client.get(ladder.get_absolute_url(), of).content.decode() for of in ({}, asked_for))
    adjusted = {row["name"]: row for row in both["style"]["rows"]}
    assert all(not row["lower"] < 1000 < row["upper"] for row in plain["rows"] if row["name"] != "middle")
    assert all(row["lower"] < 1000 < row["upper"] for row in adjusted.values()), "all are equally good"
    assert (plain["style"], plain["rows"]) == (None, both["rows"])
    assert told["length"].lower > 0
    assert {told[name].reason for name in ("headings", "position", "language")} == {"constant"}
    assert (told["length"].moved in {"wordy", "brief"}, found.battles, found.of) == (True, 400, 400)
    assert ["What style explains" in one for one in (plain_page, page)] == [False, True]
    lines = csv_rows(client.get(file(args=[ladder.slug, "csv"]), asked_for))
    ratings = {name: row["rating"] for name, row in adjusted.items()}
    assert {row["name"]: float(row["adjusted_rating"]) for row in lines} == ratings
    assert all(row["adjusted_rating"] != row["rating"] for row in lines)
    assert "adjusted_rating" not in csv_rows(client.get(file(args=[ladder.slug, "csv"])))[0]
    assert "Adjusted for length, headings" in client.get(file(args=[ladder.slug, "md"]), asked_for).content.decode()
    falling, rising = (
        client.get(ladder.get_absolute_url(), asked_for | {"sort": word}).content.decode().split("<tbody>")[1]
        for word in ("adjusted", "-adjusted")
    )
    order = sorted(LENGTHS, key=ratings.get)
    assert (sorted(LENGTHS, key=rising.index), sorted(LENGTHS, key=falling.index)) == (order, order[::-1])


def test_order_is_held_equal_where_it_was_recorded_and_battles_without_two_texts_are_left_out(leaning):
    ladder = leaning(300)
    rows = ladder.board.battles.all()
    for number, one in enumerate(rows.order_by("pk")):
        first = (one.winner == "left") == (number % 5 > 0)
        rows.filter(pk=one.pk).update(shown_left_first=None if number % 5 == 4 else first)

    [told] = style.adjusted(ladder, ("position",)).covariates
    assert told.lower > 0, "what was shown first won"

    Output.objects.filter(sample__index__lt=50).delete()
    found = style.adjusted(ladder, ("length",))
    assert (found.battles, found.of) == (250, 300)


def test_an_unknown_feature_is_refused_and_many_new_outputs_are_left_to_a_worker(client, leaning, monkeypatch):
    ladder = leaning(30)
    monkeypatch.setattr(style, "MOST_MEASURED", 10)

    refused = asked(client, ladder, control="length,charm")
    waiting = asked(client, ladder, control="length")
    compute.refresh(ladder)

    assert (refused.status_code, "charm" in refused.json()["errors"]["control"][0]) == (400, True)
    assert client.get(ladder.get_absolute_url(), {"control": "charm"}).status_code == 400
    assert (waiting.status_code, Style.objects.count()) == (503, 60)
    assert asked(client, ladder, control="length").json()["style"]["battles"] == 30


@maker
def served(arena, alice, /, count=240):
    """Makes a board of two equal contestants; where another upstream than the usual one served `b`, it lost."""
    random = np.random.default_rng(4)
    is_poor = random.random(count) < 0.3
    wins = np.where(is_poor, random.random(count) < 0.9, random.random(count) < 0.5)
    board = boards.board_of(alice, [("a", "b", "left" if won else "right") for won in wins], visibility="public")
    run = Run.objects.create(experiment=arena(), seed=1)
    model = run.experiment.participants.first().model
    key = dict(board.dataset.contestants.values_list("name", "pk"))
    samples = list(board.dataset.samples.order_by("index").values_list("pk", flat=True))
    outputs = []
    for sample, poor in zip(samples, is_poor, strict=True):
        for name, contestant in key.items():
            step = Step.objects.create(run=run, key=str(new_id()), kind="ask", purpose="output")
            upstream = "Cheap" if poor and name == "b" else "Good"
            fields = {"attempt": 1, "request": {}, "state": Call.State.COMPLETED, "served_provider": upstream}
            call = Call.objects.create(run=run, step=step, model=model, **fields)
            outputs.append(Output(sample_id=sample, contestant_id=contestant, text="An answer.", call=call))
    Output.objects.bulk_create(outputs)
    return compute.ensure_ladder(board), int(is_poor.sum())


@pytest.mark.databases
def test_several_upstreams_of_a_contestant_are_said_on_page_and_api_and_are_a_covariate_of_their_own(client, served):
    ladder, poor = served()
    several = [{"name": "Good", "answers": 240 - poor}, {"name": "Cheap", "answers": poor}]

    told, page = asked(client, ladder).json(), client.get(ladder.get_absolute_url()).content.decode()
    words = ("upstream", "style", "style,upstream")
    held, of_style, both = (asked(client, ladder, control=word).json()["style"] for word in words)

    assert told["upstreams"] == [{"name": "b", "label": "", "upstreams": several}]
    assert f"b was served by several upstreams: Good ({240 - poor}), Cheap ({poor})." in " ".join(page.split())
    [effect] = held["covariates"]
    adjusted, plain = ({row["name"]: row for row in one["rows"]}["b"] for one in (held, told))
    assert effect["upper"] < 0, "what another upstream answered loses"
    assert adjusted["lower"] < 1000 < adjusted["upper"]
    assert plain["rating"] < adjusted["rating"]
    names = [one["name"] for one in of_style["covariates"]]
    assert "upstream" not in names
    assert [one["name"] for one in both["covariates"]] == [*names, "upstream"]

    alike, _poor = served(60)
    found = asked(client, alike, control="style,upstream").json()["style"]
    assert (found["reason"] != "", {one["effect"] for one in found["covariates"]}) == (True, {None})


def test_answers_of_unknown_upstreams_are_nobodys_and_a_board_alone_offers_no_combination(client, league):
    assert mixed([("a", "A", "", 5), ("a", "A", "X", 2), ("b", "B", "X", 1), ("b", "B", "Y", 1)]) == mixed(
        [("b", "B", "Y", 1), ("b", "B", "X", 1)]
    )
    ladder = league()
    assert asked(client, ladder).json()["upstreams"] == []

    refused = asked(client, ladder, combine="0.5")

    assert 'name="combine"' not in client.get(ladder.get_absolute_url()).content.decode()
    assert refused.status_code == 400
    assert "no other board" in refused.json()["errors"]["combine"][0]


@maker
def both(alice, /, votes=250, samples=150, **fields):
    """Makes a people's ladder and a judge's on the same samples: people find all alike, the judge likes the flashy."""
    random, liking = np.random.default_rng(2), {"plain": 0.0, "middle": 0.6, "flashy": 1.2}
    pairs = [("plain", "middle"), ("middle", "flashy"), ("flashy", "plain")]
    met = [(a, b) for _sample in range(samples) for a, b in pairs]
    wins = random.random(len(met)) < 1 / (1 + np.exp([liking[b] - liking[a] for a, b in met]))
    judge = boards.board_of(
        alice,
        [(a, b, "left" if won else "right") for (a, b), won in zip(met, wins, strict=True)],
        **{"visibility": "public", **fields},
    )
    verdicts = list(judge.battles.order_by("pk"))
    people = all_boards.people_board(judge.dataset)
    cast = (
        Battle(
            board=people, sample_id=one.sample_id, left_id=one.left_id, right_id=one.right_id, ballot=f"user:{number}",
            winner="left" if random.random() < 0.5 else "right",
        )
        for number, one in enumerate(np.array(verdicts)[random.permutation(len(verdicts))[:votes]])
    )  # fmt: skip
    Battle.objects.bulk_create(cast)
    counting.recount(people)
    people.refresh_from_db()
    return compute.ensure_ladder(people), compute.ensure_ladder(judge)


def asked(client, ladder, **query):
    return client.get(reverse("api-ladder", args=[ladder.slug]), query)


@pytest.mark.databases
def test_a_pool_is_the_same_from_both_boards_and_a_correction_does_not_move_towards_the_judge(client, both):
    people, judge = both()
    plain = asked(client, people).json()
    of_people, of_judge = (asked(client, one, combine="0.25").json() for one in (people, judge))

    found = of_people["combined"]
    assert plain["combined"] is None
    assert plain["rows"] == of_people["rows"]
    assert found["rows"] == of_judge["combined"]["rows"]
    assert [(one["kind"], one["weight"], one["battles"]) for one in found["sources"]] == [
        ("people", 1.0, 250), ("imported", 0.25, 450),
    ]  # fmt: skip
    assert (found["method"], found["votes"], found["verdicts"], found["both"]) == ("pooled", 250, 450, 250)

    little, more, most, corrected = (
        {row["name"]: row for row in asked(client, people, combine=word).json()["combined"]["rows"]}["flashy"]
        for word in ("0.1", "0.5", "1", "corrected")
    )
    assert little["rating"] < more["rating"] < most["rating"]
    assert most["lower"] > 1020
    assert corrected["lower"] < 1000 < corrected["upper"]

    judge.board.dataset.contestants.filter(name="plain").update(void_reason="It had seen the tasks.")
    rows = asked(client, people, combine="0.9").json()["combined"]["rows"]
    assert [row["name"] for row in rows] == ["flashy", "middle"]
    judge.withdrawn_reason = "Its judge read the names."
    judge.save()
    assert asked(client, people, combine="1").status_code == 400


def test_page_and_files_show_both_ratings_and_the_weight_of_each_board_or_refuse_it_by_name(client, both):
    people, judge = both()
    query = {"combine": "0.5", "sort": "combined"}

    page, corrected, plain = (
        " ".join(client.get(people.get_absolute_url(), of).content.decode().split())
        for of in (query, {"combine": "corrected"}, {})
    )
    lines, text = (client.get(reverse("ladder-download", args=[people.slug, kind]), query) for kind in ("csv", "md"))
    ratings = {row["name"]: row["rating"] for row in asked(client, people, **query).json()["combined"]["rows"]}

    assert "counts as 0.5 votes. These ratings follow" in page
    assert reverse("ladder", args=[judge.slug]) in page
    assert "Ratings of people. Verdicts on all samples" in corrected
    assert ["Combined rank" in one for one in (page, plain)] == [True, False]
    assert 'name="combine"' in plain
    assert {row["name"]: float(row["combined_rating"]) for row in csv_rows(lines)} == ratings
    assert "250 votes and 450 verdicts" in text.content.decode()
    assert "Each verdict counts as 0.5 votes." in text.content.decode()
    body = page[page.index("<tbody>") :]
    assert sorted(ratings, key=body.index) == sorted(ratings, key=ratings.get, reverse=True)

    for word in ("-1", "0", "nan", "inf", "1000", "much"):
        refused = asked(client, people, combine=word)
        assert (refused.status_code, word in refused.json()["errors"]["combine"][0]) == (400, True), word


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


@pytest.mark.databases
def test_a_contaminated_board_is_wrong_as_a_whole_and_right_on_unseen_samples(planted):
    ladder = planted()

    plain, found = compute.standings(ladder).rows, compute.unseen(ladder)

    knew, [whole] = found.row("knew"), [row for row in plain if row.name == "knew"]
    assert whole.lower > 1030
    assert all(row.lower < 1000 < row.upper for row in found.rows), "all are equally good"
    assert knew.moves_lower < knew.moves < knew.moves_upper < -30
    assert knew.rating - whole.rating == pytest.approx(knew.moves, abs=1e-5)
    assert knew.released == "2026-06-01"
    assert compute.standings(ladder).rows == plain, "plain ratings do not change"


def test_a_battle_between_two_for_whom_a_sample_was_new_counts_whoever_else_had_seen_it(planted):
    ladder = planted(120)
    rows = ladder.board.battles.select_related("left", "right", "sample")

    found = compute.unseen(ladder)

    known = [one for one in rows if "knew" in (one.left.name, one.right.name)]
    seen = [one for one in known if one.sample.metadata["published"] == BEFORE]
    kept = [one for one in rows if one not in seen]
    assert (found.seen, found.battles, found.unknown, found.of) == (len(seen), len(kept), 0, 120)
    names = sorted(RELEASED)
    lefts, rights = ([names.index(getattr(one, side).name) for one in kept] for side in ("left", "right"))
    alone = fit(Battles(lefts, rights, [one.winner == "left" for one in kept], names))
    shift = found.row("middle").rating - alone["middle"]
    assert [found.row(name).rating - shift for name in names] == pytest.approx(alone.values, abs=1e-4)
    met = [one for one in kept if "other" in (one.left.name, one.right.name)]
    assert found.row("other").battles == len(met)


def test_what_has_no_date_is_named_and_not_unseen_and_without_dates_nothing_is_offered(client, planted, league):
    released = {name: RELEASED[name] for name in ("knew", "other")}
    ladder = planted(80, days=(BEFORE, AFTER, "", "soon"), released=released)

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
    addresses = [reverse("ladder-download", args=[ladder.slug, kind]) for kind in ("csv", "md")]
    table, text = (client.get(address, query) for address in addresses)

    found = {row["name"]: row for row in both["unseen"]["rows"]}
    assert plain["unseen"] is None
    assert plain["rows"] == both["rows"]
    assert "Points on unseen samples" in page
    assert "<dt>Unseen samples</dt><dd>Rating from samples alone" in page
    assert "100 of 300 samples:" in page
    assert 'name="unseen"' in plain_page
    assert "Points on unseen samples" not in plain_page
    for row in csv_rows(table):
        assert float(row["unseen_rating"]) == found[row["name"]]["rating"] != float(row["rating"])
        assert float(row["unseen_moves"]) == found[row["name"]]["moves"]
    for words in ("Unseen samples: ", f"knew: {found['knew']['moves']:+.1f} points on unseen samples"):
        assert words in told(text), words
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
