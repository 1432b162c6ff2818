"""Rating systems side by side: ours, evalica, choix, arena-rank, and two methods as they were published.

Each contender has what it takes in its own form ready before the clock starts: ours the codes of contestants, evalica
lists of names and winners, arena-rank and FastChat's method a table, choix and GenArena's method what can be counted.
"""

import multiprocessing
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.rating_leagues import ELO, League

Values = NDArray[np.float64]
Task = Callable[[], Values | None]
LONGEST = 100  # iterations of the published methods


def ours(played: League) -> dict[str, Task]:
    from leaderboard.ratings import Battles, bootstrap, fit, sandwich

    names = _names(played)

    def battles() -> Battles:
        return Battles(played.left, played.right, played.score, names)

    def draws(rounds: int, method: Literal["multinomial", "bayesian"]) -> None:
        bootstrap(battles(), rounds=rounds, seed=1, kind=method)

    return {
        "fit": lambda: fit(battles()).values,
        "sandwich": lambda: sandwich(battles()).errors,
        "bootstrap 100": partial(draws, 100, "multinomial"),
        "bootstrap 1000": partial(draws, 1000, "multinomial"),
        "bayesian bootstrap 1000": partial(draws, 1000, "bayesian"),
    }


def evalica(played: League) -> dict[str, Task]:
    import evalica

    names = _names(played)
    left, right = [names[i] for i in played.left], [names[i] for i in played.right]
    said = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    winners = [said[score] for score in played.score.tolist()]

    def fit() -> Values:
        found = evalica.bradley_terry(left, right, winners, limit=10_000)
        return _elo(np.log(found.scores.reindex(names).to_numpy()))

    return {"fit": fit}


def choix(played: League) -> dict[str, Task]:
    import choix

    def fit() -> Values:
        cells = played.left * played.count + played.right
        won = np.bincount(cells, weights=played.score, minlength=played.count**2).reshape(played.count, -1)
        lost = np.bincount(cells, weights=1 - played.score, minlength=played.count**2).reshape(played.count, -1)
        return _elo(choix.ilsr_pairwise_dense(won + lost.T))

    return {"fit": fit}


def arena_rank(played: League) -> dict[str, Task]:
    """Its second call in a process: the first one also compiles."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    table = _table(played)

    def rated() -> dict[str, Any]:
        dataset = PairDataset.from_pandas(table)
        return BradleyTerry(n_competitors=played.count).compute_ratings_and_cis(dataset)

    def fit() -> Values:
        found = rated()
        by_name = dict(zip(found["competitors"], np.asarray(found["ratings"]).tolist(), strict=True))
        return np.array([by_name[name] for name in _names(played)])

    rated()
    return {"fit": fit, "sandwich": fit}


def fastchat(played: League) -> dict[str, Task]:
    """FastChat's published method: L-BFGS over the distinct outcomes, gradient to 1e-6, at most 100 iterations; its
    bootstrap draws their counts and fits every draw anew, in as many processes as there are cores.
    """
    table = _table(played)

    def fit() -> Values:
        pairs, outcomes, weights = _distinct(table)
        return _fastchat_fit(weights, pairs, outcomes, played.count)

    def bootstrap(rounds: int) -> None:
        pairs, outcomes, weights = _distinct(table)
        drawn = np.random.default_rng(1).multinomial(len(table), weights / weights.sum(), size=rounds)
        one = partial(_fastchat_fit, pairs=pairs, outcomes=outcomes, count=played.count)
        with multiprocessing.get_context("spawn").Pool() as pool:
            found = pool.map(one, drawn.astype(float))
        np.quantile(np.array(found), [0.025, 0.975], axis=0)

    return {"fit": fit, "bootstrap 100": partial(bootstrap, 100), "bootstrap 1000": partial(bootstrap, 1000)}


def genarena(played: League) -> dict[str, Task]:
    """GenArena's published method: minorisation-maximisation of probabilities, 1e-6, at most 100 iterations."""
    cells = played.left * played.count + played.right
    won = np.bincount(cells, weights=played.score, minlength=played.count**2).reshape(played.count, -1)
    lost = np.bincount(cells, weights=1 - played.score, minlength=played.count**2).reshape(played.count, -1)
    points = won + lost.T
    games = points + points.T

    def fit() -> Values:
        chance = np.full(played.count, 1 / played.count)
        for _ in range(LONGEST):
            moved = points.sum(axis=1) / (games / (chance[:, None] + chance[None, :])).sum(axis=1)
            moved /= moved.sum()
            is_done = np.abs(moved - chance).max() <= 1e-6
            chance = moved
            if is_done:
                break
        return _elo(np.log(chance))

    return {"fit": fit}


CONTENDERS: dict[str, Callable[[League], dict[str, Task]]] = {
    "ours": ours,
    "choix": choix,
    "evalica": evalica,
    "genarena": genarena,
    "fastchat": fastchat,
    "arena-rank": arena_rank,
}


def _names(played: League) -> list[str]:
    return [f"model-{number:03d}" for number in range(played.count)]


def _elo(strengths: Values) -> Values:
    return 1000 + ELO * (strengths - strengths.mean())


def _table(played: League) -> Any:
    import pandas

    names = np.array(_names(played))
    winner = np.where(played.score == 1, "model_a", np.where(played.score == 0, "model_b", "tie"))
    return pandas.DataFrame({"model_a": names[played.left], "model_b": names[played.right], "winner": winner})


def _distinct(table: Any) -> tuple[NDArray[np.int64], Values, Values]:
    import pandas

    codes, _names_of = pandas.factorize(pandas.concat([table["model_a"], table["model_b"]]), sort=True)
    score = table["winner"].map({"model_a": 1.0, "model_b": 0.0, "tie": 0.5}).to_numpy()
    rows = np.column_stack([codes[: len(table)], codes[len(table) :], (2 * score).astype(np.int64)])
    found, counts = np.unique(rows, axis=0, return_counts=True)
    return found[:, :2], found[:, 2] / 2, counts.astype(float)


def _fastchat_fit(weights: Values, pairs: NDArray[np.int64], outcomes: Values, count: int) -> Values:
    from scipy.optimize import minimize
    from scipy.special import expit

    def loss(ratings: Values) -> tuple[float, Values]:
        chance = expit(ratings[pairs[:, 0]] - ratings[pairs[:, 1]])
        value = -((np.log(chance) * outcomes + np.log(1 - chance) * (1 - outcomes)) * weights).sum()
        slope = -(outcomes - chance) * weights
        gradient = np.zeros(count)
        np.add.at(gradient, pairs, slope[:, None] * np.array([1.0, -1.0]))
        return value, gradient

    limits = {"maxiter": LONGEST, "gtol": 1e-6}
    return _elo(minimize(loss, np.zeros(count), jac=True, method="L-BFGS-B", options=limits).x)
