"""Simulated leagues on which rating systems are compared, and the exact answer to each."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ELO = 400 / np.log(10)
TIE = 0.6  # Davidson's parameter: about a fifth of the battles are ties


class League(NamedTuple):
    """left, right: indices of contestants; score: the left one's, 1, 0.5 or 0."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    score: NDArray[np.float64]
    count: int


SIZES = {"20 models, 10 k battles": (20, 10_000), "100, 100 k": (100, 100_000), "200, 2 M": (200, 2_000_000)}


def league(count: int, battles: int, seed: int = 1) -> League:
    """Strengths N(0, 0.8 nat), popularity lognormal(0, 0.7), Davidson's ties."""
    draw = np.random.default_rng(seed)
    strengths, popularity = draw.normal(0, 0.8, count), draw.lognormal(0, 0.7, count)
    chance = popularity / popularity.sum()
    left = draw.choice(count, battles, p=chance)
    right = draw.choice(count, battles, p=chance)
    while (same := left == right).any():
        right[same] = draw.choice(count, int(same.sum()), p=chance)
    a, b = np.exp(strengths[left]), np.exp(strengths[right])
    tied = TIE * np.sqrt(a * b)
    lot = draw.random(battles) * (a + b + tied)
    score = np.where(lot < a, 1.0, np.where(lot < a + tied, 0.5, 0.0))
    return League(left, right, score, count)


def reference(played: League) -> NDArray[np.float64]:
    """The maximum of the likelihood, ratings with mean 1000: damped Newton steps until the gradient is below 1e-9."""
    points = np.zeros((played.count, played.count))
    np.add.at(points, (played.left, played.right), played.score)
    np.add.at(points, (played.right, played.left), 1 - played.score)
    games = points + points.T
    strengths = np.zeros(played.count)
    for _ in range(200):
        chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
        gradient = (points - games * chance).sum(axis=1)
        if np.abs(gradient).max() < 1e-9:
            break
        weight = games * chance * (1 - chance)
        curvature = np.diag(weight.sum(axis=1)) - weight + weight.sum() / played.count**2
        step = np.linalg.solve(curvature, gradient)
        strengths += step / max(1.0, float(np.abs(step).max()))
        strengths -= strengths.mean()
    return 1000 + ELO * strengths
