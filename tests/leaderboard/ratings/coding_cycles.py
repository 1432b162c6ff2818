"""Coding cycles for the tests, and Elo played in another way than the product's: slowly, as it is stated."""

import random

from hypothesis import strategies as st

from leaderboard.ratings.cycles import Cycle, Vote


def cycle(order, given, *, setter=None, passed=None):
    """given: by solver the vote of every judge, or by (solver, judge) the single votes."""
    single = {pair: vote for pair, vote in given.items() if isinstance(pair, tuple)}
    for solver in set(given) - set(single):
        single |= {(solver, judge): given[solver] for judge in order if judge != solver}
    votes = tuple(Vote(solver, judge, vote) for (solver, judge), vote in single.items())
    return Cycle(tuple(order), setter or order[0], votes, passed or {})


def league(count, cycles, seed=0):
    """Cycles of contestants whose skill and severity differ, with votes to one decimal; some votes failed."""
    chance = random.Random(seed)
    names = [f"c{index}" for index in range(count)]
    found = []
    for number in range(cycles):
        level = {name: 4.5 + index * 0.5 + chance.gauss(0, 1) for index, name in enumerate(names)}
        given = {
            (solver, judge): round(min(10, max(0, level[solver] - index * 0.2 + chance.gauss(0, 0.7))), 1)
            for solver in names
            for index, judge in enumerate(names)
            if solver != judge and chance.random() < 0.9
        }
        passed = {name: min(1, max(0, level[name] / 10 + chance.gauss(0, 0.1))) for name in names}
        found.append(cycle(names, given, setter=names[number % count], passed=passed))
    return found


def shuffled(found, seed):
    """The same cycle with its contestants and votes in another sequence."""
    chance = random.Random(seed)
    order, votes = list(found.contestants), list(found.votes)
    chance.shuffle(order)
    chance.shuffle(votes)
    return Cycle(tuple(order), found.setter, tuple(votes), found.passed)


@st.composite
def any_cycle(draw, names="abcde"):
    """Two to five of the names, with whatever votes there may be."""
    order = draw(st.permutations(names))[: draw(st.integers(2, len(names)))]
    pairs = [(solver, judge) for solver in order for judge in order if solver != judge]
    halves = st.none() | st.integers(0, 20)
    votes = draw(st.lists(halves, min_size=len(pairs), max_size=len(pairs)))
    given = {pair: vote / 2 for pair, vote in zip(pairs, votes, strict=True) if vote is not None}
    return cycle(order, given, setter=draw(st.sampled_from(order)))


def as_stated(cycles, start=1200.0, solver_k=32.0, setter_k=16.0):
    """MatrixArena's update word by word: failed judges play nothing, and the setter does not meet itself."""
    rating = {}
    for one in cycles:
        pool = one.contestants
        for name in pool:
            rating.setdefault(name, start)
        given = {s: {v.judge: v.overall for v in one.votes if v.solver == s} for s in pool}
        means = {s: sum(votes.values()) / len(votes) for s, votes in given.items() if votes}
        for s in pool:
            for j in pool:
                if j != s and j in given[s]:
                    e = 1 / (1 + 10 ** ((rating[j] - rating[s]) / 400))
                    d = solver_k * (means[s] / 10 - e)
                    rating[s], rating[j] = rating[s] + d, rating[j] - d
        if means:
            o = 1 - 2 * abs(sum(means.values()) / len(means) / 10 - 0.5)
            for j in pool:
                if j != one.setter:
                    e = 1 / (1 + 10 ** ((rating[j] - rating[one.setter]) / 400))
                    d = setter_k * (o - e)
                    rating[one.setter], rating[j] = rating[one.setter] + d, rating[j] - d
    return rating
