"""Who programs better passes more tests, and problems that are harder are solved less."""

import json
from collections import defaultdict

import pytest

from experiments.gateway.simulated.coding.bank import load_problem, problem_names
from experiments.gateway.simulated.coding.strength import strength_of
from experiments.gateway.simulated.names import CODERS, PERSONALITIES, parse_name
from experiments.workflows.coding.problems import Problem
from experiments.workflows.coding.problems import Test as Case
from experiments.workflows.coding.solving import read_solution

from .contest import ask, passes, problem_of, solution_prompt

SEEDS = range(8)


def as_set(name):
    found = load_problem(name)
    tests = tuple(Case(str(number), test.arguments, test.expected) for number, test in enumerate(found.tests))
    more = (found.criteria, found.reference)
    return Problem(found.title, found.description, found.function, found.comparison, tests[:5], tests[5:], *more)


def mean_share(model, names=None):
    """Of the hidden and shown tests that pass, over every problem and some seeds."""
    shares = []
    for name in names or problem_names():
        problem = as_set(name)
        tests = [(json.dumps(test.arguments), json.dumps(test.expected)) for test in problem.tests]
        for seed in SEEDS:
            code = read_solution(ask(model, solution_prompt(problem), "solution", seed), "coder-1").code
            passed = [passes(code, problem.entry, problem.comparison, *test) for test in tests]
            shares.append(sum(passed) / len(passed))
    return sum(shares) / len(shares)


def test_the_stronger_passes_more_tests():
    shares = [mean_share(f"sim/coder:strength={strength}") for strength in (0.1, 0.35, 0.6, 0.9)]

    assert shares == sorted(shares)
    assert shares[0] < 0.5
    assert shares[-1] > 0.85


def test_models_differ_in_strength_and_their_results_follow():
    strengths = {name: strength_of(parse_name(f"sim/{name}")) for name in (*PERSONALITIES, *CODERS)}
    assert len(set(strengths.values())) == len(strengths)

    order = sorted(CODERS, key=lambda name: -strengths[name])
    shares = {name: mean_share(f"sim/{name}") for name in (order[0], order[len(order) // 2 + 1], order[-1])}
    assert list(shares) == sorted(shares, key=lambda name: -shares[name])


def test_a_name_can_say_how_strong_it_is():
    assert strength_of(parse_name("sim/coder-yew:strength=0.95")) == pytest.approx(0.95)


def test_a_strong_setter_sets_harder_problems_than_a_weak_one():
    found = defaultdict(list)
    difficulties = {load_problem(name).function: load_problem(name).difficulty for name in problem_names()}
    for model in ("sim/coder-oak", "sim/coder-yew"):
        found[model] = [difficulties[problem_of(seed, model=model).entry] for seed in range(60)]
    assert sum(found["sim/coder-oak"]) > sum(found["sim/coder-yew"])
