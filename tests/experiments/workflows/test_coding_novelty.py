"""Problems that repeat earlier ones, and programs that tests have to tell from right ones."""

import random

from experiments.workflows.coding.mutants import MOST_MUTANTS, mutants, trivial
from experiments.workflows.coding.novelty import SIZE, as_earlier, fingerprint, likeness, nearest
from experiments.workflows.coding.problems import read_problem
from tests.cases import each_case
from tests.experiments import contests
from tests.experiments.cycles import problem as other_words
from tests.hanging import without_hanging

STATEMENT = (
    "A ferry carries cars in the order in which they arrive, as long as both its length and its weight allow it. "
    "Given the cars with their lengths and weights, and the two limits of the ferry, return how many trips it takes. "
    "A car that fits on no ferry at all makes the answer minus one. Cars never overtake each other in the queue."
)


def problem(title="Ferry", description=STATEMENT, **changes):
    return read_problem(contests.json.dumps(contests.problem(title=title, description=description, **changes)))


def is_new(one, *earlier) -> bool:
    return nearest(one, [as_earlier(other) for other in earlier]) is None


@each_case(
    ("title", "description"),
    [
        ("Ferry", "Something that is quite different from it: count the leaves of a tree."),
        ("FERRY!", "Something that is quite different from it: count the leaves of a tree."),
        ("Boats", STATEMENT),
        ("Boats", STATEMENT.upper()),
        ("Boats", STATEMENT.replace(".", " !").replace(",", "\n\n")),
        ("Boats", STATEMENT.replace("ferry", "raft", 1)),
        ("Boats", f"{STATEMENT} Every number is a positive integer."),
    ],
    ids=["title", "title in capitals", "words", "capitals", "signs", "one word", "one sentence more"],
)
def test_an_earlier_problem_in_other_clothes_is_none(title, description):
    assert not is_new(problem(title, description), problem())

    earlier = [as_earlier(read_problem(contests.json.dumps(other_words(number)))) for number in range(5)]
    assert nearest(problem(title, description), [*earlier, as_earlier(problem())]).title == "Ferry"


@each_case("description", [STATEMENT, "x", "…", "数一数岛屿的数量。", "word " * 4_000])
def test_any_statement_has_a_fingerprint_and_is_near_to_itself(description):
    with without_hanging():
        mine = fingerprint(problem(description=description))
    assert len(mine) == SIZE
    assert likeness(mine, mine) == 1
    assert likeness(mine, []) == 0, "a fingerprint of another size is like nothing"


def test_other_problems_are_new():
    others = [read_problem(contests.json.dumps(other_words(number))) for number in range(20)]
    for one in others:
        assert is_new(one, *(other for other in others if other is not one))
    assert is_new(problem("→", "Count the ways."), problem("☃", "Draw a map of all the islands in the lake."))


# --- programs that must not pass ---


def run(code: str, entry: str, *arguments):
    space: dict = {}
    exec(compile(code, "given", "exec"), space)
    return space[entry](*arguments)


def test_the_trivial_programs_are_programs():
    programs = trivial(problem())
    assert run(programs["constant"], "spread", [1, 2]) == 0, "the commonest result of the tests"
    assert run(programs["echo"], "spread", [1, 2]) == [1, 2]
    assert run(programs["echo"], "spread") is None


@each_case("expected", ['a "quoted" \\ text', "\n", {"a": [None, True]}, 0.1, "日本\u2028語"])
@each_case("entry", ["json", "given", "loads", "print", "solve"])
def test_the_constant_program_gives_its_value_whatever_the_function_is_called(entry, expected):
    shown = [contests.example([number], expected) for number in range(5)]
    found = problem(function_name=entry, test_cases=shown)
    assert run(trivial(found)["constant"], entry, [0]) == expected


def test_mutants_differ_from_the_reference_and_are_drawn_by_the_seed():
    found = problem()
    drawn = mutants(found, random.Random(1))
    assert drawn == mutants(found, random.Random(1))
    assert found.reference not in drawn
    assert len(set(drawn)) == len(drawn) == MOST_MUTANTS


@each_case(
    "code",
    [
        "def spread(values):\n    return sorted(values)[-1]\n",
        "def spread(values):\n    text = '\u2028 \x0c \x85'\n    return max(values) + 1\n",
        "def spread(values):\r\n    a = 'x\x1cy'\r\n    return max(values) + 1\r\n",
        "def spread(größe):\n    '''日本\n    語'''\n    return 1 if größe else 0  # 2 < 3\n",
    ],
)
def test_one_token_is_changed_and_everything_else_stays(code):
    found = problem(reference_solution=code)
    for mutant in mutants(found, random.Random(3)):
        pairs = list(zip(found.reference.split("\n"), mutant.split("\n"), strict=True))
        assert sum(one != other for one, other in pairs) == 1
        compile(mutant, "mutant", "exec")


@each_case(
    "code",
    ["this is no Python ((", "def f(:\n", "'unclosed", "\tx\n  y", "def spread(v):\n    return v\n", "(" * 5_000],
)
def test_code_in_which_nothing_can_be_changed_has_no_mutants(code):
    assert mutants(problem(reference_solution=code), random.Random(0)) == []
