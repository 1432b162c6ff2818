"""What a setter's answer has to say before it is a problem, and how problems and programs are told apart."""

import json
import random
from itertools import product

import pytest

from experiments.workflows.base.json_reader import code_of
from experiments.workflows.base.parsing import Unreadable
from experiments.workflows.coding.problems import (
    DEFAULT_CRITERIA,
    SIZE,
    as_earlier,
    fingerprint,
    likeness,
    nearest,
    read_problem,
)
from experiments.workflows.coding.setting import MOST_MUTANTS, mutants, trivial
from tests.experiments.contests import example, problem
from tests.experiments.cycles import problem as other_words
from tests.hanging import without_hanging


def read(**changes):
    return read_problem(json.dumps(problem(**changes)))


def wrong(text) -> str:
    with pytest.raises(Unreadable) as raised:
        read_problem(text if isinstance(text, str) else json.dumps(text))
    return str(raised.value)


def replaced(name: str, number: int, **test):
    """The problem with another test in this place."""
    tests = [*problem()[name]]
    tests[number] = {**tests[number], **test}
    return problem(**{name: tests})


def test_every_part_is_needed():
    for name in set(problem()) - {"comparison", "evaluation_criteria"}:
        for value in (None, 7, {}, "", []):
            assert wrong(problem(**{name: value})).startswith(f"{name} "), value
        assert wrong({key: given for key, given in problem().items() if key != name}).startswith(f"{name} ")


def test_five_tests_are_shown_and_five_to_fifteen_hidden_and_criteria_are_a_text_or_a_list_of_texts():
    for name, count in (("test_cases", 4), ("test_cases", 6), ("hidden_test_cases", 4), ("hidden_test_cases", 16)):
        tests = [example([number], 0) for number in range(100, 100 + count)]
        assert f"{name} holds {count} tests" in wrong(problem(**{name: tests}))
    assert len(read(hidden_test_cases=[example([number, 0], 0) for number in range(100, 115)]).hidden) == 15

    for criteria, taken in (
        ("Short and right.", ("Short and right.",)),
        (["One.", "Two."], ("One.", "Two.")),
        (["One.", 7, None, {"a": 1}, "", ["x"]], ("One.",)),
        *((none, DEFAULT_CRITERIA) for none in ([7, None], {"a": "b"}, None, 12)),
    ):
        assert read(evaluation_criteria=criteria).criteria == taken


def test_inputs_and_outputs_are_any_plain_json_and_a_test_that_cannot_be_run_is_named_with_its_number():
    for value in (True, None, 0, -1.5, "", [], {}, [[1, [2, {"x": None}]], "ß"], "日本語 😀 \u2028", 10**400, 1e308):
        shown = [example([value], value), *problem()["test_cases"][1:]]
        test = read(test_cases=shown).shown[0]
        assert (test.arguments, test.expected) == ([[value]], value)
        assert type(test.expected) is type(value)
        as_it_is = [{"input": [[value], None], "expected_output": True}, *problem()["test_cases"][1:]]
        test = read(test_cases=as_it_is).shown[0]
        assert (test.arguments, test.expected) == ([[value], None], True)

    for test, reason in (
        ({"expected_output": "NaN"}, "expected_output is not valid JSON text"),
        ({"expected_output": float("nan")}, "expected_output holds what JSON or a database cannot"),
        ({"expected_output": "1e999"}, "expected_output holds what JSON or a database cannot"),
        ({"expected_output": "an unquoted text"}, "a text stands in quotation marks"),
        ({"expected_output": '"\\u0000"'}, "expected_output holds what JSON or a database cannot"),
        ({"expected_output": "[" * 100 + "]" * 100}, "expected_output holds what JSON or a database cannot"),
        ({"expected_output": ["x" * 30_000]}, "expected_output is longer than"),
        ({"expected_output": json.dumps("x" * 30_000)}, "expected_output is longer than"),
        ({"input": "5"}, "input is not the JSON list of all arguments"),
        ({"input": ""}, "input is not valid JSON text"),
    ):
        said = wrong(replaced("test_cases", 1, **test))
        assert said.startswith("test_cases, test 2: "), test
        assert reason in said
        assert len(said) < 500


def test_all_that_is_wrong_with_a_problem_is_said_at_once_and_ten_megabytes_are_refused_quickly_and_not_quoted():
    with without_hanging():
        assert code_of("```python\n" + "``` \n" * 30_000 + "x").endswith("x")
        for name in ("description", "reference_solution", "title"):
            said = wrong(problem(**{name: "x" * 10_000_000}))
            assert ("longer than" in said, len(said) < 500) == (True, True), name

    for name in ("def", "None", "a b", "_hidden", "1st", "f()", "größe", "x" * 61, "a.b", " "):
        assert "function_name is no name of a function" in wrong(problem(function_name=name)), name
    for comparison in ("", "EXACT", 3, ["exact"], None):
        assert "comparison is none of exact, tolerance, unordered" in wrong(problem(comparison=comparison)), comparison
    for item in (None, 7, "1 -> 2", [1, 2], {}, {"input": "[1]"}, {"expected_output": "1"}):
        tests = [*problem()["hidden_test_cases"][:4], item]
        assert wrong(problem(hidden_test_cases=tests)).startswith("hidden_test_cases, test 5: "), item
    same = [{"input": json.dumps([{"b": 2, "a": 1}]), "expected_output": "2"}, *problem()["test_cases"][1:]]
    again = [{"input": '[{"a": 1, "b": 2}]', "expected_output": "2"}, *problem()["hidden_test_cases"][1:]]
    assert "tests 1 and h1 have the same input" in wrong(problem(test_cases=same, hidden_test_cases=again))
    given = problem()
    del given["comparison"]
    assert read_problem(json.dumps(given)).comparison == "exact"
    said = wrong(problem(title="", function_name="", test_cases=[], comparison="x"))
    assert len(said.splitlines()) == 4
    said = wrong(problem(title="t" * 201, description="d" * 20_001, reference_solution="#" * 60_001))
    assert [line.split(" ")[0] for line in said.splitlines()] == ["title", "description", "reference_solution"]


LIKE_A_FENCE = 'def f():\n    """Like\n    ```\n    f()\n    ```\n    """'


def test_a_fence_around_the_code_is_no_part_of_it():
    for text, code in (
        *((text, "x = 1") for text in ("x = 1", "```python\nx = 1\n```", "```\nx = 1\n```", "  ```py \nx = 1```  ")),
        *((text, "x = 1") for text in ("```python\r\nx = 1\r\n```\r\n", "\n\nx = 1\n\n")),
        ("\n    x = 1\n", "    x = 1"),
        (LIKE_A_FENCE, LIKE_A_FENCE),
        (f"```python\n{LIKE_A_FENCE}\n```", LIKE_A_FENCE),
        ("x = '\ud800'\ny = '\x00'", "x = '\ufffd'\ny = '\ufffd'"),
        *((no_code, "") for no_code in (None, 7, ["x = 1"], {"code": "x = 1"}, "", "\n\n", "```python\n```")),
    ):
        assert code_of(text) == code


STATEMENT = (
    "A ferry carries cars in the order in which they arrive, as long as both its length and its weight allow it. "
    "Given the cars with their lengths and weights, and the two limits of the ferry, return how many trips it takes. "
    "A car that fits on no ferry at all makes the answer minus one. Cars never overtake each other in the queue."
)


def ferry(title="Ferry", description=STATEMENT, **changes):
    return read_problem(json.dumps(problem(title=title, description=description, **changes)))


def is_new(one, *earlier) -> bool:
    return nearest(one, [as_earlier(other) for other in earlier]) is None


def test_an_earlier_problem_in_other_clothes_is_none():
    for title, description in (
        ("Ferry", "Something that is quite different from it: count the leaves of a tree."),
        ("FERRY!", "Something that is quite different from it: count the leaves of a tree."),
        ("Boats", STATEMENT),
        ("Boats", STATEMENT.upper()),
        ("Boats", STATEMENT.replace(".", " !").replace(",", "\n\n")),
        ("Boats", STATEMENT.replace("ferry", "raft", 1)),
        ("Boats", f"{STATEMENT} Every number is a positive integer."),
    ):
        assert not is_new(ferry(title, description), ferry())

        earlier = [as_earlier(read_problem(json.dumps(other_words(number)))) for number in range(5)]
        assert nearest(ferry(title, description), [*earlier, as_earlier(ferry())]).title == "Ferry"


def test_other_problems_are_new_and_any_statement_has_a_fingerprint_and_is_near_to_itself():
    others = [read_problem(json.dumps(other_words(number))) for number in range(8)]
    for one in others:
        assert is_new(one, *(other for other in others if other is not one))
    assert is_new(ferry("→", "Count the ways."), ferry("☃", "Draw a map of all the islands in the lake."))
    for description in (STATEMENT, "x", "…", "数一数岛屿的数量。", "word " * 4_000):
        with without_hanging():
            mine = fingerprint(ferry(description=description))
        assert (len(mine), likeness(mine, mine)) == (SIZE, 1)
        assert likeness(mine, []) == 0, "a fingerprint of another size is like nothing"


def run(code: str, entry: str, *arguments):
    space: dict = {}
    exec(compile(code, "given", "exec"), space)
    return space[entry](*arguments)


def test_the_trivial_programs_give_a_value_and_the_argument_whatever_the_function_is_called():
    values = ['a "quoted" \\ text', "\n", {"a": [None, True]}, 0.1, "日本\u2028語"]
    for entry, expected in product(("json", "given", "loads", "print", "solve"), values):
        shown = [example([number], expected) for number in range(5)]
        programs = trivial(ferry(function_name=entry, test_cases=shown))
        assert run(programs["constant"], entry, [0]) == expected, "the commonest result of the tests"
        assert (run(programs["echo"], entry, [1, 2]), run(programs["echo"], entry)) == ([1, 2], None), entry


def test_in_a_mutant_one_token_is_changed_and_where_nothing_can_be_there_is_none():
    for code in (
        "def spread(values):\n    return sorted(values)[-1]\n",
        "def spread(values):\n    text = '\u2028 \x0c \x85'\n    return max(values) + 1\n",
        "def spread(values):\r\n    a = 'x\x1cy'\r\n    return max(values) + 1\r\n",
        "def spread(größe):\n    '''日本\n    語'''\n    return 1 if größe else 0  # 2 < 3\n",
    ):
        found = ferry(reference_solution=code)
        drawn = mutants(found, random.Random(3))
        assert drawn == mutants(found, random.Random(3)), "by the seed"
        assert 0 < len(set(drawn)) == len(drawn) <= MOST_MUTANTS
        for mutant in drawn:
            pairs = list(zip(found.reference.split("\n"), mutant.split("\n"), strict=True))
            assert sum(one != other for one, other in pairs) == 1
            compile(mutant, "mutant", "exec")

    for code in (
        *("this is no Python ((", "def f(:\n", "'unclosed", "\tx\n  y", "def spread(v):\n    return v\n"),
        "(" * 5_000,
    ):
        assert mutants(ferry(reference_solution=code), random.Random(0)) == []
