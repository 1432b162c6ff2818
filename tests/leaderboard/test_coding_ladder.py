"""The ladder of coding: its figures are those of the ratings package, and what its pages show of whom to whom."""

import csv
import io
import json
import re

import pytest
from django.core.cache import caches

from experiments.models import Cycle, Run
from experiments.workflows.coding.pages import ratings
from leaderboard.boards import coding, compute, jobs
from leaderboard.models import Ladder
from leaderboard.ratings import cycles as pure
from leaderboard.ratings.judging import judging, setters
from tests.experiments import contest_rows
from tests.experiments.contest_rows import LEVELS, SEATS, Contest, votes_of
from tests.fixtures import signed_in
from tests.markup import squeezed

PAGE = "/leaderboard/coding/"
MODELS = tuple(f"lab/{seat}" for seat in SEATS)


@pytest.fixture
def contest(alice):
    """Six cycles of Alice's: a solver without an answer, a judge that twice gave no vote, a void one."""
    made = contest_rows.contest(alice, 4)
    made.cycle(silent=(2,))
    made.cycle(votes_of((1, 2), (3, 2)))
    made.void_cycle(setter=4)
    return made


@pytest.fixture
def ladder(contest, db):
    jobs.refresh_stale()
    Ladder.objects.update(is_public=True)
    return Ladder.objects.get(slug="coding")


def page(client, address=PAGE, **asked):
    answer = client.get(address, asked)
    assert answer.status_code == 200
    return answer.content.decode()


def chosen(shown):
    """Whose boxes are ticked."""
    return re.findall(r'name="name" value="([^"]+)" checked', squeezed(shown))


def test_a_setter_whose_problems_were_all_void_is_told_with_their_number(client, alice):
    made = Contest(alice)
    for setter in (1, 2):
        made.cycle(setter=setter)
    made.void_cycle(setter=4)
    jobs.refresh_stale()
    client.force_login(alice)

    setters = {one.name: one for one in coding.standings().contest.setters}
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(page(client, f"{PAGE}download/csv/")))}
    told = [(rows[f"lab/coder-{n}"]["setter_problems"], rows[f"lab/coder-{n}"]["setter_void"]) for n in (1, 3, 4)]
    assert list(setters) == ["lab/coder-1", "lab/coder-2", "lab/coder-4"]
    assert setters["lab/coder-4"].calibration.reason == "no_votes"
    assert told == [("1", "0"), ("0", "0"), ("0", "1")]
    assert rows["lab/coder-4"]["setter_calibration_reason"] == "no_votes"


def test_the_history_is_filtered_and_visitors_read_nothing_of_runs(client, ladder, contest, alice, charlie):
    shown = squeezed(page(client, f"{PAGE}history/", name=["lab/coder-1", "lab/coder-3"], board="elo"))

    assert ('data-label="coder-1 model"' in shown, 'data-label="coder-2 model"' in shown) == (True, False)
    assert chosen(shown) == ["lab/coder-1", "lab/coder-3"]
    assert len(chosen(page(client, f"{PAGE}history/", name="nobody"))) == 4

    private = [f"/runs/{contest.run.pk}", str(contest.run.pk), "Spread of readings", contest_rows.DESCRIPTION[:40]]

    for sign_in in (None, charlie):
        if sign_in:
            client.force_login(sign_in)
        for address in (PAGE, *(f"{PAGE}{name}/" for name in ("history", "download/json", "download/csv"))):
            shown = page(client, address) + page(client, "/api/ladders/coding/")
            assert [words for words in private if words in shown] == [], address
    client.force_login(alice)
    assert "Spread of readings 1" in page(client)


def test_a_page_shows_a_new_cycle_before_a_worker_has_computed_it(client, ladder, contest):
    before = client.get(PAGE)
    assert not jobs.is_anything_stale()
    contest.cycle()
    after = client.get(PAGE, headers={"If-None-Match": before["ETag"]})

    assert after.status_code == 200
    assert coding.history()[-1].number == 7
    assert compute.current(Ladder.objects.select_related("standing").get()).standings.contest.cycles == 7
    assert client.get(PAGE, headers={"If-None-Match": after["ETag"]}).status_code == 304
    assert jobs.is_anything_stale()
    Ladder.objects.get().standing.__class__.objects.update(computed="2026-01-01T00:00:00Z")
    assert jobs.refresh_stale() == 1
    assert not jobs.is_anything_stale()


def test_files_and_the_api_say_what_the_ladder_says(client, ladder):
    wanted = coding.standings()
    kept = compute.Standings.from_json(Ladder.objects.get().standing.data)
    assert (kept.contest, kept.rows) == (wanted.contest, wanted.rows)
    rows = list(csv.DictReader(io.StringIO(page(client, f"{PAGE}download/csv/"))))
    document = json.loads(page(client, f"{PAGE}download/json/"))
    found = client.get("/api/ladders/coding/").json()

    names = [one.name for one in wanted.contest.solvers]
    assert [row["name"] for row in rows] == [one["name"] for one in document["contest"]["solvers"]] == names
    assert float(rows[0]["compatible"]) == document["contest"]["solvers"][0]["compatible"]
    assert len(document["contest"]["history"]) == 6
    assert page(client, f"{PAGE}download/md/").count("| coder-1 model") >= 3
    assert {one["name"] for one in found["rows"]} == set(MODELS)
    assert found["contest"]["alpha"]["value"] == wanted.contest.alpha.value
    Ladder.objects.update(withdrawn_reason="The sandbox was broken.")
    withdrawn = client.get("/api/ladders/coding/").json()
    assert (withdrawn["rows"], withdrawn["contest"]) == ([], None)
    assert "The sandbox was broken." in page(client)
    assert client.get(f"{PAGE}download/csv/").status_code == 404


def test_the_ladder_is_hidden_until_published_and_of_rated_cycles_played_here(client, contest, alice, settings):
    jobs.refresh_stale()
    assert [client.get(PAGE).status_code, signed_in(alice).get(PAGE).status_code] == [404, 200]
    Ladder.objects.update(is_public=True)
    assert client.get(PAGE).status_code == 200
    Ladder.objects.all().delete()
    settings.DEMO_MODE = True
    jobs.refresh_stale()
    assert client.get(PAGE).status_code == 200, "in a demonstration it is public at once"

    for origin in (Run.Origin.IMPORTED, Run.Origin.DEMONSTRATION, Run.Origin.BRANCH):
        Run.objects.update(origin=origin)
        assert coding.standings().rows == (), origin
    Run.objects.update(origin=Run.Origin.LIVE)
    assert len(coding.standings().rows) == 4
    Cycle.objects.exclude(state="void").delete()
    assert (ratings.of_run(contest.run), ratings.of_all(), coding.standings().rows) == (None, None, ())


def value(levels, turn, missing=(), passed=None):
    """What the rows of `Contest.cycle` should be read as."""
    votes = votes_of(*missing, levels=levels)
    shares = {MODELS[n]: (passed or {}).get(n + 1, 10) / 10 for n in range(4)}
    return pure.Cycle(
        MODELS,
        MODELS[(turn - 1) % 4],
        tuple(pure.Vote(MODELS[s - 1], MODELS[j - 1], vote) for s, row in votes.items() for j, vote in row.items()),
        shares,
    )


def levels(number):
    return tuple(level + ((number * 7 + place * 3) % 5 - 2) * 0.8 for place, level in enumerate(LEVELS))


@pytest.fixture
def ten(alice):
    """Ten cycles of two runs, by turns; with the cycles as the pure room knows them, in the order of their ratings."""
    first, second = Contest(alice, is_bare=True), Contest(alice, is_bare=True)
    known = []
    for number in range(10):
        made = (first, second)[number % 2]
        passed = {3: 3 + number % 6, 4: number % 4}
        row = made.cycle(votes_of(levels=levels(number)), passed=passed)
        Cycle.objects.filter(pk=row.pk).update(ended=first.now.replace(microsecond=number))
        known.append((row, value(levels(number), made.turns, passed=passed)))
    return known


def boards(found):
    return {one.name: one.compatible for one in found.solvers}, {one.name: one.elo for one in found.solvers}


@pytest.mark.databases
def test_runs_are_rated_by_their_own_cycles_and_every_figure_is_that_of_the_ratings_package(ten):
    assert [one.cycle for one in ratings.read(Cycle.objects.counted())] == [cycle for _row, cycle in ten]

    rows = [(row, cycle) for row, cycle in ten if row.run_id == ten[0][0].run_id]
    found = ratings.of_run(rows[0][0].run)

    assert found.cycles == 5
    assert boards(found)[0] == dict(pure.compatible_elo([cycle for _row, cycle in rows]).ratings)
    assert [moment.turn for moment in found.history] == [1, 2, 3, 4, 5]

    caches["memory"].clear()
    Cycle.objects.filter(pk=ten[2][0].pk).update(voided="2026-01-01T00:00:00Z", void_reason="Ambiguous.")
    kept = [pair for number, pair in enumerate(ten) if number != 2]
    cycles = [cycle for _row, cycle in kept]
    found = ratings.of_all()
    compatible, elo = boards(found)
    strengths, judged = pure.solver_ratings(cycles).intervals, judging(cycles)

    assert [moment.pk for moment in coding.history()] == [row.pk for row, _cycle in kept]
    assert compatible == dict(pure.compatible_elo(cycles).ratings)
    assert elo == dict(pure.solver_elo(cycles).ratings)
    rated = [one for one in found.solvers if one.rating is not None]
    assert rated
    for one in rated:
        index = strengths.ratings.contestants.index(one.name)
        intervals = (strengths.ratings.values[index], strengths.lower[index], strengths.upper[index])
        assert (one.rating, one.lower, one.upper) == intervals
    assert [one.severity.value for one in found.judges] == [one.severity.value for one in judged.judges]
    assert (found.alpha.value, (found.alpha.low, found.alpha.high)) == (judged.alpha.value, judged.alpha.interval)
    calibrations = {one.name: one.calibration.value for one in setters(cycles)}
    assert {one.name: one.calibration.value for one in found.setters} == calibrations
    reverse = {one.name: one.reverse for one in found.solvers}
    turned = [pure.Cycle(one.contestants[::-1], one.setter, one.votes, one.passed) for one in cycles]
    assert reverse == dict(pure.compatible_elo(turned).ratings)
    assert found.order_moves == max(abs(compatible[name] - reverse[name]) for name in reverse) > 0


def test_a_solver_below_the_quorum_is_unrated_and_its_votes_still_say_what_the_judges_are_like(alice):
    made = Contest(alice)
    for _cycle in range(3):
        made.cycle(votes_of((1, 2), (1, 3)), quorum=2)
    found = ratings.of_run(made.run)
    solver = next(one for one in found.solvers if one.name == "lab/coder-1")

    assert (solver.unrated, solver.mean.value, solver.reason) == (3, None, "no_battles")
    assert (solver.votes, solver.elo) == (3, None)
    assert next(one.votes for one in found.judges if one.name == "lab/coder-4") == 9
    assert found.history[-1].means.keys() == {"lab/coder-2", "lab/coder-3", "lab/coder-4"}
    for row in Cycle.objects.all():
        row.contestants = [[seat, f"gone/{slug}"] for seat, slug in row.contestants]
        row.save()
    caches["memory"].clear()
    shown = {one.shown for one in ratings.of_run(made.run).solvers}
    assert shown == {f"gone/{name}" for name in MODELS}, "models that have left the catalogue"
