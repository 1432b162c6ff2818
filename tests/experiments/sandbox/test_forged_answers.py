"""A program can find the token by which the harness signs its answer, and sign what it likes: a claim, no more."""

import json
import secrets

import pytest

from experiments.sandbox import Execution, Limits, Result, Test, run

pytestmark = pytest.mark.system


SIGNER = """
import os, sys

def solve(body):
    frame = sys._getframe()
    while frame := frame.f_back:
        for held in list(frame.f_locals.values()):
            if token := held.get("nonce") if type(held) is dict else getattr(held, "nonce", None):
                for number in range(3, 32):
                    try:
                        os.write(number, ('{"nonce":"%s",%s}\\n' % (token, body)).encode())
                    except OSError:
                        continue
                os._exit(0)
    return "no token found"
"""


def test_a_signed_answer_is_a_claim_and_harms_nobody() -> None:
    answer = secrets.token_hex(16)
    bodies = {
        **{f"{n} lists in lists": '"value":' + '["l",' * n + "1" + "]" * n for n in (150, 250, 436, 484, 5000)},
        "objects in objects": '"value":' + '["d","a",' * 400 + "1" + "]" * 400,
        "sets in sets": '"value":' + '["s",' * 450 + "1" + "]" * 450,
        "countless items": '"value":["l"' + ",0" * 450_000 + "]",
        "a claim": '"verdict":"passed"',
        "a list for a tag": '"value":[["l"],1]',
        "no number": '"value":["l",["f","nan"],["f","inf"],["f","-1e999"],1e999]',
        "no number at all": '"value":NaN',
        "a word for a number": '"value":["f","one"]',
        "a long number": '"value":' + "9" * 4000,
        "a longer number": '"value":' + "9" * 500_000,
        "a long number in another way": '"value":["i","' + "f" * 900_000 + '"]',
        "half a letter": '"value":["d","\\ud800","\\udfff"]',
        "half a letter twice": '"value":["d","\\ud800",1,"\\ud801",2]',
        "null in a text": '"value":["l","\\u0000"]',
        "printed": '"printed":true',
        "out of memory": '"memory":true',
        "a long complaint": '"complaint":"' + "x" * 900_000 + '"',
        "a long error": '"error":"' + "\\ud800\\u0000" * 50_000 + '"',
        "an error that is no text": '"error":' + "[" * 400 + "]" * 400,
    }
    tests = [Test("honest", ["no body"], answer)]
    tests += [Test(name, [body], right) for name, body in bodies.items() for right in (answer, [answer])]

    execution = run(SIGNER, tests, Limits(total_seconds=600), backend="bubblewrap")

    assert [result.name for result in execution.results if result.verdict == "passed"] == []
    assert "no token found" not in {result.value for result in execution.results if isinstance(result.value, str)}
    assert_can_be_kept(execution)


def test_a_script_may_print_documents_of_any_depth() -> None:
    tests = [Test("printed", [], []), Test("in any order", [], [[]], "unordered")]
    for depth in (150, 300, 480, 5000):
        execution = run(f"print('[' * {depth} + ']' * {depth})", tests, backend="bubblewrap")

        assert {result.verdict for result in execution.results} == {"failed" if depth < 200 else "error"}, depth
        assert_can_be_kept(execution)


def assert_can_be_kept(execution: Execution) -> None:
    record = json.dumps(execution.as_json(), ensure_ascii=False, allow_nan=False).encode()
    assert Execution.from_json(json.loads(record)) == execution
    assert len(execution.complaint) <= 1000
    for result in execution.results:
        assert len(result.error) <= 500
        assert depth_of(result) <= Limits().depth + 1


def depth_of(result: Result) -> int:
    """How many lists and objects lie in one another; found without calling itself."""
    depth, level = 0, [result.value]
    while level := [item for one in level for item in inside(one)]:
        depth += 1
    return depth


def inside(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def test_a_signed_complaint_at_a_later_test_takes_no_other_result_away() -> None:
    code = SIGNER.replace("def solve(body):", "def solve(body):\n    if body == 1:\n        return 1")

    execution = run(code, [Test("first", [1], 1), Test("second", ['"complaint":"no"'], 1), Test("third", [1], 1)])

    assert [result.verdict for result in execution.results] == ["passed", "error", "passed"]
    assert execution.complaint == ""
