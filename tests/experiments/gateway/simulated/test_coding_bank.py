"""The problems of the simulated setters: every test holds, and solutions are as good as they are said to be."""

import json
from itertools import combinations

import pytest

from experiments.gateway.simulated.coding.bank import find_problem, load_problem, problem_names, results_of, title_of
from experiments.gateway.simulated.coding.manner import in_manner
from experiments.gateway.simulated.coding.strength import strength_of
from experiments.gateway.simulated.names import CODERS, PERSONALITIES, parse_name
from experiments.workflows.coding.novelty import NEAR, fingerprint, likeness
from experiments.workflows.coding.problems import Problem
from experiments.workflows.coding.solving import read_solution
from experiments.workflows.flags import addresses_reviewers
from tests.cases import each_case

from .contest import ask, problem_of, share_passed, solution_prompt

VARIANTS = 2
each_problem = each_case("name", problem_names())
each_variant = each_case("variant", range(VARIANTS))


def share(problem, solution):
    return share_passed(solution.code, problem.function, problem.comparison, problem.tests)


def test_there_are_enough_problems_with_all_kinds_of_comparison_and_a_text_as_a_result():
    problems = [load_problem(name) for name in problem_names()]

    assert len(problems) >= 14
    assert {problem.comparison for problem in problems} == {"exact", "tolerance", "unordered"}
    assert any(isinstance(problem.tests[0].expected, str) for problem in problems)
    assert len({tag for problem in problems for tag in problem.tags}) > 15


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

    assert results_of(problem.reference, problem.function, inputs) == [test.expected for test in problem.tests]
    assert json.dumps(inputs) == before


@each_problem
def test_a_problem_is_whole(name):
    problem = load_problem(name, 1)

    assert 11 <= len(problem.tests) <= 20
    assert len({json.dumps(test.arguments) for test in problem.tests}) == len(problem.tests)
    assert len({json.dumps(test.expected) for test in problem.tests}) > len(problem.tests) / 3
    assert all(part in problem.description for part in (f"{problem.function}(", "eturn", "Example:"))
    assert "$" not in problem.description + problem.title
    assert 3 <= len(problem.criteria) <= 6
    assert 0 < problem.difficulty < 1
    for solution in problem.solutions:
        assert 0 < len(solution.explanation.split()) < 200
        assert not addresses_reviewers(f"{solution.code}\n{solution.explanation}")


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


@pytest.mark.exhaustive
@each_problem
def test_a_models_manner_changes_the_words_and_not_what_is_computed(name):
    problem = load_problem(name)
    found = set()
    for model in (*PERSONALITIES, *CODERS):
        for solution in problem.solutions:
            if solution.quality == "loop":
                continue
            written = in_manner(solution, problem.function, model)
            assert share(problem, written) == share(problem, solution), f"{model}: {written.code}"
            found.add(written.code)
    assert len(found) > 2 * len(problem.solutions)


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
    shares = [mean_share(f"sim/{name}") for name in (order[0], order[len(order) // 2 - 1], order[-1])]
    assert shares == sorted(shares)


def test_a_strong_setter_sets_harder_problems_than_a_weak_one():
    difficulties = {load_problem(name).function: load_problem(name).difficulty for name in problem_names()}
    weak, strong = (
        sum(difficulties[problem_of(seed, model=model).entry] for seed in range(60))
        for model in ("sim/coder-yew", "sim/coder-oak")
    )
    assert weak < strong
