"""The problems of the simulated setters: every test holds, and solutions are as good as they are said to be."""

import json
from itertools import combinations

import pytest

from experiments.gateway.simulated.coding.bank import find_problem, load_problem, problem_names, results_of, title_of
from experiments.gateway.simulated.coding.manner import in_manner
from experiments.gateway.simulated.names import CODERS, PERSONALITIES
from experiments.workflows.coding.novelty import NEAR, fingerprint, likeness
from experiments.workflows.flags import addresses_reviewers
from tests.cases import each_case

from .contest import share_passed

VARIANTS = 4
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
def test_two_ways_to_solve_a_problem_agree_on_every_test(name, variant):
    problem = load_problem(name, variant)

    assert share(problem, problem.solutions[0]) == 1
    assert [share(problem, slow) for slow in problem.of_quality("slow")] == [1]


@each_problem
def test_the_reference_does_not_change_its_arguments_and_gives_the_same_again(name):
    problem = load_problem(name)
    inputs = [test.arguments for test in problem.tests]
    before = json.dumps(inputs)

    assert results_of(problem.reference, problem.function, inputs) == [test.expected for test in problem.tests]
    assert json.dumps(inputs) == before


@each_problem
@each_variant
def test_flawed_solutions_pass_some_tests_and_wrong_ones_fewer(name, variant):
    problem = load_problem(name, variant)
    flawed = [share(problem, solution) for solution in problem.of_quality("edge")]
    wrong = [share(problem, solution) for solution in problem.of_quality("wrong")]

    assert flawed
    assert all(0.2 <= passed < 1 for passed in flawed)
    assert all(passed < 0.7 for passed in wrong)
    assert sum(flawed) / len(flawed) > sum(wrong) / len(wrong)


@each_problem
def test_an_endless_solution_is_right_or_wrong_elsewhere_and_endless_on_a_few_tests(name):
    problem = load_problem(name)
    assert all(0.3 < share(problem, solution) < 1 for solution in problem.of_quality("loop"))


@each_problem
@each_variant
def test_tests_are_five_shown_and_more_hidden_with_different_inputs_and_results(name, variant):
    tests = load_problem(name, variant).tests

    assert 11 <= len(tests) <= 20
    assert len({json.dumps(test.arguments) for test in tests}) == len(tests)
    assert len({json.dumps(test.expected) for test in tests}) > len(tests) / 3


@each_problem
def test_a_statement_has_its_contract_an_example_and_criteria(name):
    problem = load_problem(name)

    assert f"{problem.function}(" in problem.description
    assert "eturn" in problem.description
    assert "Example:" in problem.description
    assert "$" not in problem.description + problem.title
    assert 3 <= len(problem.criteria) <= 6
    assert 0 < problem.difficulty < 1


@each_problem
def test_variants_are_told_in_other_words_under_other_titles(name):
    variants = [load_problem(name, variant) for variant in range(8)]
    marks = [fingerprint(problem) for problem in variants]

    assert len({problem.title for problem in variants}) == len(variants)
    assert all(likeness(*pair) < NEAR for pair in combinations(marks, 2))


@each_problem
def test_a_problem_is_found_by_its_title(name):
    assert [find_problem(title_of(name, variant)) for variant in (0, 3, 12)] == [(name, 0), (name, 3), (name, 12)]
    assert find_problem("Towers of Hanoi") is None


@each_problem
def test_no_solution_speaks_to_those_who_judge(name):
    for solution in load_problem(name).solutions:
        assert solution.explanation
        assert len(solution.explanation.split()) < 200
        assert not addresses_reviewers(f"{solution.code}\n{solution.explanation}")


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
