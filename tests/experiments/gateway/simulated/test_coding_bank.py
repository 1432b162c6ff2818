"""The problems of the simulated setters: every test holds, and solutions are as good as they are said to be."""

import json
from itertools import combinations

from experiments.gateway.simulated.coding.bank import find_problem, load_problem, problem_names, results_of, title_of
from experiments.gateway.simulated.coding.strength import strength_of
from experiments.gateway.simulated.names import CODERS, PERSONALITIES, parse_name
from experiments.workflows.base.flags import addresses_reviewers
from experiments.workflows.coding.novelty import NEAR, fingerprint, likeness
from experiments.workflows.coding.problems import Problem
from experiments.workflows.coding.solving import read_solution
from tests.cases import each_case

from .contest import ask, problem_of, share_passed, solution_prompt

VARIANTS = 2
each_problem = each_case("name", problem_names())
each_variant = each_case("variant", range(VARIANTS))


def share(problem, solution):
    return share_passed(solution.code, problem.function, problem.comparison, problem.tests)


@each_problem
@each_variant
def test_two_ways_to_solve_a_problem_agree_on_every_test_and_flawed_ones_pass_fewer(name, variant):
    problem = load_problem(name, variant)
    flawed = [share(problem, solution) for solution in problem.of_quality("edge")]
    wrong = [share(problem, solution) for solution in problem.of_quality("wrong")]

    assert share(problem, problem.solutions[0]) == 1
    assert [share(problem, slow) for slow in problem.of_quality("slow")] == [1]
    assert flawed
    assert all(0.2 <= passed < 1 for passed in flawed)
    assert all(passed < 0.7 for passed in wrong)
    assert sum(flawed) / len(flawed) > sum(wrong) / len(wrong)
    assert all(0.3 < share(problem, solution) < 1 for solution in problem.of_quality("loop"))


@each_problem
def test_the_reference_does_not_change_its_arguments_and_gives_the_same_again(name):
    problem = load_problem(name)
    inputs = [test.arguments for test in problem.tests]
    before = json.dumps(inputs)
    assert 11 <= len({json.dumps(given) for given in inputs}) == len(inputs) <= 20
    assert not any(addresses_reviewers(f"{made.code}\n{made.explanation}") for made in problem.solutions)

    assert results_of(problem.reference, problem.function, inputs) == [test.expected for test in problem.tests]
    assert json.dumps(inputs) == before


@each_problem
def test_variants_are_told_in_other_words_under_other_titles(name):
    variants = [load_problem(name, variant) for variant in range(4)]
    marks = [fingerprint(problem) for problem in variants]

    assert len({problem.title for problem in variants}) == len(variants)
    assert all(likeness(*pair) < NEAR for pair in combinations(marks, 2))


@each_problem
def test_a_problem_is_found_by_its_title(name):
    assert [find_problem(title_of(name, variant)) for variant in (0, 3, 12)] == [(name, 0), (name, 3), (name, 12)]
    assert find_problem("Towers of Hanoi") is None


# --- who programs better passes more tests ---


def mean_share(model):
    """Of the tests of every problem that pass."""
    shares = []
    for name in problem_names():
        found = load_problem(name)
        told = Problem(
            found.title, found.description, found.function, found.comparison, (), (), found.criteria, found.reference
        )
        for seed in range(2):
            code = read_solution(ask(model, solution_prompt(told), "solution", seed), "coder-1").code
            shares.append(share_passed(code, found.function, found.comparison, found.tests))
    return sum(shares) / len(shares)


def test_models_differ_in_strength_and_the_stronger_pass_more_tests():
    shares = [mean_share(f"sim/coder:strength={strength}") for strength in (0.1, 0.35, 0.6, 0.9)]
    assert shares == sorted(shares)
    assert shares[0] < 0.5
    assert shares[-1] > 0.85

    strengths = {name: strength_of(parse_name(f"sim/{name}")) for name in (*PERSONALITIES, *CODERS)}
    assert len(set(strengths.values())) == len(strengths)
    order = sorted(CODERS, key=strengths.__getitem__)
    assert mean_share(f"sim/{order[0]}") < mean_share(f"sim/{order[-1]}")
    difficulties = {load_problem(name).function: load_problem(name).difficulty for name in problem_names()}
    weak, strong = (
        sum(difficulties[problem_of(seed, model=f"sim/{name}").entry] for seed in range(60))
        for name in (order[0], order[-1])
    )
    assert weak < strong, "and the stronger set harder problems"
