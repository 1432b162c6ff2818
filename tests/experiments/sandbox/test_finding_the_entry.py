"""What is called: a function, a method, or the whole program."""

import pytest

from experiments.sandbox import Test, run

pytestmark = pytest.mark.system


def only(code, arguments=(1, 2), expected=3, **options):
    execution = run(code, [Test("only", list(arguments), expected)], **options)
    assert execution.complaint == ""
    return execution.results[0]


def test_it_is_found_whatever_it_is_and_may_have_another_name():
    for shape, code in {
        "an imported function": "from operator import add as solve",
        "a callable object": "class Adder:\n    def __call__(self, a, b):\n        return a + b\nsolve = Adder()",
        "a coroutine": "import asyncio\nasync def solve(a, b):\n    await asyncio.sleep(0)\n    return a + b",
        "an asynchronous generator": "import asyncio\nasync def solve(a, b):\n    await asyncio.sleep(0)\n"
        "    yield a + b",
        "a generator": "def solve(a, b):\n    yield from [a + b]",
        "a function that prints on both channels": "import sys\nprint('loading …')\nprint('debug', file=sys.stderr)\n"
        "def solve(a, b):\n    print('{\"value\": false}', flush=True)\n    return a + b",
        "a function with state of its own": "calls = 0\ndef solve(a, b):\n    global calls\n    calls += 1\n"
        "    assert calls == 1, 'each test begins anew'\n    return a + b",
        "a deep recursion": "import sys\nsys.setrecursionlimit(20_000)\n"
        "def deep(n):\n    return n and 1 + deep(n - 1)\ndef solve(a, b):\n    return deep(5_000) - 5_000 + a + b",
        "Solution's method": "class Other:\n    def solve(self):\n        return 0\n"
        "class Solution:\n    def solve(self, a, b):\n        return a + b",
        "a derived class's method": "class Base:\n    def solve(self, a, b):\n        return 0\nclass Adder(Base):\n"
        "    def solve(self, a, b):\n        return a + b",
        "a function made by a call": "def make():\n    global solve\n    def solve(a, b): return a + b\nmake()",
        "a function beside a main guard": "def solve(a, b):\n    return a + b\n"
        "if __name__ == '__main__':\n    print(input())",
        "a function that the program also tries out": "import json, sys\ndef solve(a, b):\n    return a + b\n"
        "print(solve(*json.load(sys.stdin)))",
        "a script": "import json, sys\na, b = json.load(sys.stdin)\nprint(a + b)",
        "a script under a main guard": "def main():\n    a, b = eval(input())\n    print(a + b)\n"
        "if __name__ == '__main__':\n    main()",
        "a script that prints at its exit": "import atexit, json, sys\na, b = json.load(sys.stdin)\n"
        "atexit.register(print, a + b)",
        "a script whose thread prints": "import json, sys, threading\na, b = json.load(sys.stdin)\n"
        "threading.Thread(target=lambda: print(a + b)).start()",
        "a byte order mark": "\ufeffdef solve(a, b):\n    return a + b",
        "lines as Windows ends them": "def solve(a, b):\r\n    return a + b\r\n",
    }.items():
        result = only(code, expected=[3] if "generator" in shape else 3)
        assert result.verdict == "passed", (shape, result)
    assert only("def add(a, b):\n    return a + b", entry="add").verdict == "passed"


def test_what_cannot_be_called_or_fails_is_an_error():
    for code, error in (
        ("solve = 3", "solve is not a function"),
        ("class A:\n    def solve(self): ...\nclass B:\n    def solve(self): ...", "2 classes have a method solve"),
        ("def solve(a, b):\n    return input()", "EOFError: EOF when reading a line"),
        ("def solve():\n    return 3", "TypeError"),
        ("def another(a, b):\n    return a + b", ""),
        ("print(3)\nraise SystemExit('no')", "SystemExit: no"),
    ):
        result = only(code)
        assert (result.verdict, result.error.startswith(error)) == ("error", True), result


def test_a_script_that_prints_more_than_its_answer_has_no_value():
    result = only("print('debug')\nprint(3)")

    assert (result.verdict, result.has_value) == ("error", False)
    assert result.error.startswith("what it printed is not one JSON document")
    assert result.stdout == "debug\n3\n"


def test_each_test_finds_a_fresh_process_and_its_own_arguments():
    code = "seen = []\ndef solve(items):\n    seen.append(1)\n    items.append(len(seen))\n    return items"
    shared = [7]

    execution = run(code, [Test("first", [shared], [7, 1]), Test("second", [shared], [7, 1])])

    assert [result.verdict for result in execution.results] == ["passed", "passed"]
    assert shared == [7]


def test_a_program_that_does_not_compile_is_run_with_no_test():
    for code, complaint in (
        ("", "there is no program"),
        ("\n \n", "there is no program"),
        ("def solve(:\n    pass", "SyntaxError: invalid syntax (line 1)"),
        ("x = 1\n\tif x:", "IndentationError: unexpected indent (line 2)"),
        ("return 1", "SyntaxError: 'return' outside function (line 1)"),
        ("x = '\ud800'", "the program is not valid Unicode: surrogates not allowed"),
        ("x = 1\0", "null bytes"),
        ("(" * 5_000 + ")" * 5_000, "too many nested parentheses"),
    ):
        execution = run(code, [Test("first", [], 1), Test("second", [], 2)])

        assert complaint in execution.complaint
        assert [result.verdict for result in execution.results] == ["not_run", "not_run"], complaint


def test_an_unknown_language_and_arguments_that_are_not_json_are_refused():
    with pytest.raises(ValueError, match="no language 'cobol'; there are python"):
        run("", [], language="cobol")
    with pytest.raises(ValueError, match="arguments that are not JSON"):
        run("def solve(a): ...", [Test("only", [{1, 2}], None)])  # type: ignore[list-item]
