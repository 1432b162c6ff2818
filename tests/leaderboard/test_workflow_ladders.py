"""The ladders of the council, of its members' ballots, and of coding, whose figures the ratings package gives."""

import json
import re
from datetime import timedelta

import numpy as np
import pytest
from django.core.cache import caches

from experiments.models import Ballot, Cycle, ProviderModel, Run, Step
from experiments.tasks import clock
from experiments.workflows.coding.pages import ratings
from leaderboard.boards import coding, compute, council, jobs
from leaderboard.models import Ladder, Standing
from leaderboard.ratings import Battles, sandwich
from leaderboard.ratings import cycles as pure
from leaderboard.ratings.judging import judging, setters
from tests.experiments import contest_rows
from tests.experiments.contest_rows import LEVELS, SEATS, Contest, votes_of
from tests.experiments.reports import deliberations
from tests.fixtures import signed_in
from tests.leaderboard.boards import csv_rows
from tests.markup import squeezed


@pytest.fixture
def asked(alice):
    """A council of Alice's that has answered one question; two of its three members ranked."""
    return deliberations.council(alice).run


@pytest.mark.databases
def test_ballots_of_what_was_played_here_are_read_as_comparisons_without_the_reviewers_own_answer(asked):
    for origin in (Run.Origin.IMPORTED, Run.Origin.DEMONSTRATION, Run.Origin.BRANCH):
        Run.objects.update(origin=origin)
        assert list(council.pairings()) == [], origin
        assert compute.standings(council.ladder()).rows == (), origin
    Run.objects.update(origin=Run.Origin.LIVE)
    seat = dict(asked.experiment.participants.values_list("seat", "model__slug"))
    one, two, three = (seat[f"member-{number}"] for number in (1, 2, 3))

    def found():
        return [(pairing.first, pairing.second, pairing.score) for pairing in council.pairings()]

    assert set(found()) == {(two, three, 0.0), (one, three, 0.5)}
    first = Ballot.objects.filter(reviewer="member-1")
    first.update(order=[["member-2"]])
    assert set(found()) == {(two, three, 1.0), (one, three, 0.5)}, "what a ballot passes over stands last"
    first.update(superseded=True)
    assert found() == [(one, three, 0.5)]
    Step.objects.filter(purpose="turn_completed").update(purpose="turn_under_way")
    assert found() == []
    Step.objects.filter(purpose="turn_under_way").update(purpose="turn_completed")
    models = dict(asked.experiment.participants.values_list("seat", "model"))
    asked.experiment.participants.update(model=ProviderModel.objects.first())
    assert found() == [], "answers of one model are not compared"
    asked.experiment.participants.filter(seat="member-2").delete()  # a person took part in its place
    for name, model in models.items():
        asked.experiment.participants.filter(seat=name).update(model=model)
    assert found() == []


def test_many_questions_make_ratings_by_question(alice):
    orders = [[["member-3"], ["member-2"]], [["member-2"], ["member-3"]], [["member-2", "member-3"]]]
    for number in range(6):
        run = deliberations.council(alice).run
        Ballot.objects.filter(run=run, reviewer="member-1").update(order=orders[number % 3])

    found = council.standings()

    assert found.battles == 12
    assert {row.reason for row in found.rows} <= {"", "few_samples"}
    assert sum(row.battles for row in found.rows) == 24


def test_questions_that_all_come_out_alike_say_nothing_of_the_next_one(alice):
    for questions in (1, 2):
        run = deliberations.council(alice).run
        for reviewer, order in (("member-1", ["member-2", "member-3"]), ("member-3", ["member-2", "member-1"])):
            Ballot.objects.filter(run=run, reviewer=reviewer).update(order=[[seat] for seat in order])
        found = council.standings()

        assert found.battles >= 2 * questions
        assert all(row.reason for row in found.rows)
        assert all(row.rank is None and row.first is None for row in found.rows)


def test_an_interval_is_as_wide_as_its_few_questions_ask_for():
    """Three questions: the t quantile of two degrees of freedom, 4.30, and not 1.96."""
    clusters = np.repeat([0, 1, 2], 4)
    battles = Battles([0] * 12, [1] * 12, [1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0], ["a", "b"])

    plain, wide = sandwich(battles, clusters=clusters), council.intervals_by_question(battles, clusters)

    assert wide.errors / plain.errors == pytest.approx([np.sqrt(3 / 2) * 4.302653 / 1.959964] * 2, rel=1e-5)
    assert (wide.lower < plain.lower).all()


def test_a_question_whose_bell_was_lost_is_found_by_the_sweep_also_by_a_clock_an_hour_ahead(asked, alice):
    for away, battles in ((timedelta(minutes=-1), 4), (timedelta(hours=1), 6)):
        jobs.refresh_stale()
        assert not jobs.is_anything_stale(), away
        computed = clock.now() + away
        Standing.objects.update(computed=computed, changes=int(computed.timestamp() * 1000))
        deliberations.council(alice)
        assert jobs.is_anything_stale(), away
        assert jobs.refresh_stale() == 1, away
        assert Standing.objects.get().data["battles"] == battles, away


PAGE = "/leaderboard/coding/"
MODELS = tuple(f"lab/{seat}" for seat in SEATS)


@pytest.fixture
def contest(alice):
    """Six cycles of Alice's: a solver without an answer, a judge that twice gave no vote; and a void one."""
    made = contest_rows.contest(alice, 2)
    for _cycle in range(2):
        made.cycle(setter=1)
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


def test_files_and_the_api_say_what_the_ladder_says_also_of_a_setter_whose_problems_were_all_void(client, ladder):
    wanted = coding.standings()
    kept = compute.Standings.from_json(Ladder.objects.get().standing.data)
    assert (kept.contest, kept.rows) == (wanted.contest, wanted.rows)
    rows = csv_rows(client.get(f"{PAGE}download/csv/"))
    document = json.loads(page(client, f"{PAGE}download/json/"))
    found = client.get("/api/ladders/coding/").json()

    names = [one.name for one in wanted.contest.solvers]
    assert [row["name"] for row in rows] == [one["name"] for one in document["contest"]["solvers"]] == names
    assert float(rows[0]["compatible"]) == document["contest"]["solvers"][0]["compatible"]
    assert len(document["contest"]["history"]) == 6
    assert page(client, f"{PAGE}download/md/").count("| coder-1 model") >= 3
    assert {one["name"] for one in found["rows"]} == set(MODELS)
    assert found["contest"]["alpha"]["value"] == wanted.contest.alpha.value
    assert [one.name for one in wanted.contest.setters] == ["lab/coder-1", "lab/coder-2", "lab/coder-4"]
    of_setters = {row["name"]: (row["setter_problems"], row["setter_void"]) for row in rows}
    assert [of_setters[f"lab/coder-{n}"] for n in (1, 3, 4)] == [("4", "0"), ("0", "0"), ("0", "1")]
    [unscored] = [row for row in rows if row["name"] == "lab/coder-4"]
    assert unscored["setter_calibration_reason"] == "no_votes"
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
