"""What a setter has to answer before it is a problem; in which order a cycle goes on, as nobody waits for anybody."""

import hashlib
import json
import random
from itertools import product

import pytest

from experiments.workflows.base.json_reader import code_of
from experiments.workflows.base.parsing import Unreadable
from experiments.workflows.base.records import Finding
from experiments.workflows.base.steps import Ask, Execute, Outcome
from experiments.workflows.coding.config import coder
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
from tests.experiments import cycles
from tests.experiments.contests import example, judgment, problem
from tests.experiments.cycles import Play, but, cast, one_cycle, ran, well
from tests.experiments.cycles import problem as other_words
from tests.hanging import without_hanging


def test_nobody_waits_for_a_solution_or_a_repair_of_somebody_else():
    play = one_cycle(stop_after=9)
    assert play.open() == [f"cycle/1/solution/{coder(number)}" for number in (1, 2, 3)]
    play.give("cycle/1/solution/coder-2")
    assert play.open() == [f"cycle/1/{what}" for what in ("solution/coder-1", "solution/coder-3", "execution/coder-2")]
    play.give("cycle/1/execution/coder-2")
    judges = {f"cycle/1/judge/coder-{judge}/of/coder-2" for judge in (1, 3)}
    assert set(play.open()) == {"cycle/1/solution/coder-1", "cycle/1/solution/coder-3"} | judges

    play.give("cycle/1/judge/coder-3/of/coder-2")
    assert "cycle/1/judge/coder-3/of/coder-2/vote" in play.keys, "a vote is recorded the moment it is there"
    play.give("cycle/1/solution/coder-1", lambda step: cycles.GARBAGE)
    play.give("cycle/1/judge/coder-1/of/coder-2", lambda step: cycles.GARBAGE)
    repairs = {"cycle/1/solution/coder-1/repair", "cycle/1/judge/coder-1/of/coder-2/repair"}
    assert set(play.open()) == {"cycle/1/solution/coder-3"} | repairs

    while len(play.waiting) > 1 or play.waiting[0].key != "cycle/1/judge/coder-2/of/coder-3":
        play.give([key for key in play.open() if key != "cycle/1/judge/coder-2/of/coder-3"][-1])
    assert "cycle/1/rated" not in play.keys
    play.give("cycle/1/judge/coder-2/of/coder-3")
    assert play.keys[-2:] == ["cycle/1/rated", "cycle/1/completed"], "with the last vote"


def test_everybody_judges_everybody_else_once_in_an_order_drawn_by_the_seed():
    for coders in (3, 10):
        judged = [(data["judge_seat"], data["subject"]) for data in one_cycle(coders=coders).found("solution_judged")]
        seats = [coder(number) for number in range(1, coders + 1)]
        assert sorted(judged) == sorted((judge, solver) for judge in seats for solver in seats if judge != solver)

    def order(seed, of=1):
        play = Play(cast(6, seed=seed), health_check=False, setters="in_turn")
        return tuple(step.seat for step in play.asked("judge") if step.key.endswith(f"/of/coder-{of}"))

    assert len({order(seed) for seed in range(4)}) > 2
    assert order(3) == order(3)
    assert len({order(3, of) for of in range(1, 7)}) == 6, "it is another one for each solution"


def rated(play):
    [data] = play.found("cycle_rated")
    return data


def test_votes_that_were_not_given_are_left_out_and_a_solution_with_fewer_than_the_quorum_is_not_rated():
    limited = {f"cycle/1/judge/coder-{number}/of/coder-2": cycles.LIMITED for number in (1, 3)}
    for quorum, is_rated in ((1, True), (2, False), (3, False)):
        play = one_cycle(but({**limited, "cycle/1/judge/coder-4/of/coder-2": judgment(4)}), coders=4, quorum=quorum)

        data, others = rated(play), dict.fromkeys(("coder-1", "coder-3", "coder-4"), 7)
        assert data["means"] == (others | {"coder-2": 4} if is_rated else others)
        assert data["overall"] == (6.25 if is_rated else 7)
        assert data["unrated"] == ({} if is_rated else {"coder-2": f"1 of at least {quorum} votes were given."})
        assert data["votes"]["coder-2"] == {"coder-4": 4}, "kept, whether it counts or not"
        missing = [vote for vote in play.found("solution_judged") if vote["scores"] is None]
        assert {(vote["judge_seat"], vote["unscored_reason"]) for vote in missing} == {
            *(("coder-1", cycles.LIMITED.error), ("coder-3", cycles.LIMITED.error))
        }


def test_who_gives_no_solution_is_neither_executed_nor_judged_and_one_that_was_mended_counts():
    for first, second, reason in (
        (cycles.OFFLINE, None, f"It gave no solution. {cycles.OFFLINE.error}"),
        (cycles.GARBAGE, cycles.GARBAGE, "Its solution could not be read: the answer holds no JSON object."),
        ({"solution_code": ""}, {"solution_code": None}, "solution_code is missing, is empty"),
    ):
        key = "cycle/1/solution/coder-2"
        play = one_cycle(but({key: first, f"{key}/repair": second or cycles.OFFLINE}))

        data = rated(play)
        assert reason in data["unrated"]["coder-2"]
        assert "cycle/1/execution/coder-2" not in play.keys
        assert not any(step.key.endswith("/of/coder-2") for step in play.asked("judge"))
        assert data["votes"]["coder-2"] == {}
        assert set(data["passed"]) == set(data["means"]) == {"coder-1", "coder-3"}
        assert any(step.seat == "coder-2" for step in play.asked("judge")), "it judges the others all the same"

    play = one_cycle(
        but(
            {
                "cycle/1/solution/coder-2": cycles.GARBAGE,
                "cycle/1/execution/coder-1": lambda step: ran(step, ["failed", "timeout", "error"]),
                "cycle/1/execution/coder-2": lambda step: ran(step, complaint="SyntaxError: no (line 1)"),
                "cycle/1/execution/coder-4": cycles.SANDBOX_FAILED,
            }
        ),
        coders=4,
    )
    assert rated(play)["unrated"] == {}
    assert rated(play)["passed"] == {"coder-1": 0.7, "coder-2": 0, "coder-3": 1}, "and of one not run there is none"
    assert "The sandbox could not run it" in play.told("cycle/1/judge/coder-1/of/coder-4")
    assert play.found("message_superseded") == [{"message": "cycle/1/solution/coder-2"}]
    assert play.step("cycle/1/solution/coder-2/repair").purpose == "solution"


def test_a_judgment_that_cannot_be_read_is_asked_for_once_more_and_one_that_names_its_judge_flagged():
    key = "cycle/1/judge/coder-1/of/coder-2"
    says = judgment(8, feedback="As acme/sage-7 I find it right.")
    replies = {key: judgment(11), "cycle/1/judge/coder-1/of/coder-3": says}
    play = one_cycle(but(replies), called={"coder-1": ("acme/sage-7",)})
    flagged = {vote["key"]: vote["flags"] for vote in play.found("solution_judged") if vote["flags"]}
    assert flagged == {"cycle/1/judge/coder-1/of/coder-3": ["names_itself"]}
    assert rated(play)["votes"]["coder-3"]["coder-1"] == 8, "a judge that names itself is flagged, and its vote counts"
    assert "correctness is 11, outside 0 to 10" in play.told(f"{key}/repair")
    assert play.step(f"{key}/vote").source == f"{key}/repair"
    assert rated(play)["votes"]["coder-2"]["coder-1"] == 7

    play = one_cycle(but({key: judgment(11), f"{key}/repair": judgment("8/10")}))
    [vote] = [vote for vote in play.found("solution_judged") if vote["key"] == key]
    assert (vote["scores"], vote["rationale"]) == (None, "")
    assert vote["unscored_reason"] == "Its judgment could not be read: correctness is not a number."
    assert "coder-1" not in rated(play)["votes"]["coder-2"]


def fickle(step) -> Outcome:
    """An answer that follows from the key alone: now and then it is garbage, late, or from a lost model."""
    drawn = hashlib.sha256(step.key.encode()).digest()[0]
    if isinstance(step, Execute):
        if step.purpose == "check":
            return well(step)
        return cycles.SANDBOX_FAILED if drawn > 240 else ran(step, ["failed"] * (drawn % 4))
    assert isinstance(step, Ask)
    if step.purpose == "health":
        return cycles.LIMITED if drawn > 200 else well(step)
    if step.purpose == "judge" and drawn < 60:
        return Outcome(text=json.dumps(judgment(drawn / 6)))
    failures = {range(60, 75): cycles.OFFLINE, range(75, 110): cycles.GARBAGE}
    failures |= {range(110, 112): cycles.BAD_KEY, range(112, 120): cycles.LIMITED}
    return next((outcome for numbers, outcome in failures.items() if drawn in numbers), None) or well(step)


def asked(*plays: Play) -> dict[str, str]:
    """Everything that the plays wanted, by key, with all that it consists of. What two of them want is the same."""
    found: dict[str, str] = {}
    for step in (step for play in plays for step in play.steps):
        told = _content(step)
        assert found.setdefault(step.key, told) == told, step.key
    return found


def _content(step) -> str:
    fields = {name: getattr(step, name) for name in step.__dataclass_fields__ if name != "inspect"}
    return json.dumps(fields, sort_keys=True, default=_plain)


def _plain(value):
    if isinstance(value, Finding):
        return value.data()
    return getattr(value, "content", None) or str(value)


def test_played_anew_from_any_moment_it_asks_exactly_what_is_missing():
    for setup in (
        {"coders": 4, "cycles": 4},
        {"coders": 5, "cycles": 2, "setters": "random", "quorum": 2, "health_check": False},
    ):
        config = dict(setup)
        seats = cast(config.pop("coders"))
        whole = Play(seats, fickle, **config)
        draw = random.Random(len(whole.steps))
        for stop_after in sorted(draw.sample(range(len(whole.answered)), 6)):
            before = Play(seats, fickle, order=draw, stop_after=stop_after, **config)
            after = Play(seats, fickle, order=draw, recorded=before.outcomes, **config)

            assert sorted(after.taken_up) == sorted(before.open()), f"killed after {stop_after} answers"
            assert asked(before, after) == asked(whole)
            assert not set(after.keys) & set(before.outcomes), "what is recorded is neither asked nor recorded again"
            assert after.end == whole.end


def read(**changes):
    return read_problem(json.dumps(problem(**changes)))


def wrong(text) -> str:
    with pytest.raises(Unreadable) as raised:
        read_problem(text if isinstance(text, str) else json.dumps(text))
    return str(raised.value)


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
        first, second, *others = problem()["test_cases"]
        said = wrong(problem(test_cases=[first, {**second, **test}, *others]))
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
