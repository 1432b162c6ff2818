"""Leagues for the tests: battles from known strengths, and ratings found in another way than the product's."""

import math

import numpy as np

from leaderboard.ratings import Battles, Table, fit, tally

ELO = 400 / math.log(10)


def names(count):
    return [f"c{index:03}" for index in range(count)]


def league(count, size, seed=0, *, spread=0.8, ties=0.0, strengths=None):
    """Battles among pairs drawn at random, and the true ratings with mean 1000."""
    random = np.random.default_rng(seed)
    strengths = random.normal(0, spread, count) if strengths is None else np.asarray(strengths)
    left = random.integers(0, count, size)
    right = (left + random.integers(1, count, size)) % count
    wins = random.random(size) < 1 / (1 + np.exp(strengths[right] - strengths[left]))
    score = np.where(random.random(size) < ties, 0.5, wins)
    return Battles(left, right, score, names(count)), 1000 + ELO * (strengths - strengths.mean())


def rows(*results, contestants=None):
    """Battles from ("a", "b", 1) rows."""
    known = contestants or sorted({name for first, second, _ in results for name in (first, second)})
    left, right = ([known.index(row[side]) for row in results] for side in (0, 1))
    return Battles(np.array(left, int), np.array(right, int), [row[2] for row in results], known)


def distance_to_maximum(battles, values):
    """How far (Elo) a rating is from the maximum of the likelihood: one Newton step in extended precision."""
    table = tally(battles)
    strengths = (values.astype(np.longdouble) - 1000) / np.longdouble(ELO)
    chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    surprise = table.points * (1 - chance)
    slope = (surprise.sum(axis=1) - surprise.sum(axis=0)).astype(float)
    weights = (table.games * chance * (1 - chance)).astype(float)
    curvature = np.diag(weights.sum(axis=1)) - weights
    return float(np.abs(np.linalg.pinv(curvature, rcond=1e-13) @ slope).max()) * ELO


def dense(battles, x, clusters, weights=1.0):
    """A plain logistic regression: one column per contestant and covariate, pseudo-inverses. Gives ratings, effects of
    the covariates `x`, and what all of them vary by.
    """
    count, k = len(battles.contestants), len(x)
    design = np.zeros((len(battles), count + k))
    design[np.arange(len(battles)), battles.left] = 1
    design[np.arange(len(battles)), battles.right] = -1
    design[:, count:] = x.T
    found = np.zeros(count + k)
    for _ in range(40):
        chance = 1 / (1 + np.exp(-design @ found))
        curvature = (design.T * (weights * chance * (1 - chance))) @ design
        found = found + np.linalg.pinv(curvature, rcond=1e-12) @ (design.T @ (weights * (battles.score - chance)))
    scores = np.zeros((clusters.max() + 1, count + k))
    np.add.at(scores, clusters, (weights * (battles.score - chance))[:, None] * design)
    inverse = np.linalg.pinv(curvature, rcond=1e-12)
    strengths = found[:count] - found[:count].mean()
    return 1000 + ELO * strengths, ELO * found[count:], inverse @ scores.T @ scores @ inverse * ELO**2


def sampled_league(count, samples, seed=0, *, spread=0.6, shared=1.0, strengths=None, gain=0.0):
    """Everybody meets everybody on every sample, on each of which each is stronger or weaker by its own luck there.

    shared: how much, in nats. gain: by how much each is stronger on each sample whatever its luck. Gives the battles,
    the sample of each, and the ratings that ever more samples, without a gain, lead to.
    """
    random = np.random.default_rng(seed)
    strengths = random.normal(0, spread, count) if strengths is None else strengths
    left, right = np.triu_indices(count, 1)
    luck = random.normal(0, shared, (samples, count))
    on_sample = strengths + luck + gain
    apart = on_sample[:, left] - on_sample[:, right]
    score = (random.random(apart.shape) < 1 / (1 + np.exp(-apart))).astype(float)
    battles = Battles(np.tile(left, samples), np.tile(right, samples), score.ravel(), names(count))
    return battles, np.repeat(np.arange(samples), len(left)), limit(strengths, shared)


def limit(strengths, shared):
    """The fit of the chances to win, by Gauss and Hermite's rule over the luck of two."""
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    apart = strengths[:, None] - strengths[None, :]
    wins = 1 / (1 + np.exp(-(apart[..., None] + math.sqrt(2) * shared * points)))
    chances = wins @ weights / weights.sum()
    np.fill_diagonal(chances, 0.0)
    return fit(Table(chances, np.zeros_like(chances), tuple(names(len(strengths))))).values


def holds(intervals, truth):
    return (intervals.lower <= truth) & (truth <= intervals.upper)


def is_as_often_as_claimed(inside):
    """95 %, within three standard errors of as many leagues."""
    return 0.93 <= np.mean(inside) <= 0.97 if len(inside) > 300 else 0.90 <= np.mean(inside) <= 0.99
