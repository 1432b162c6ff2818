"""Right programs pass all their tests, whatever they are made of; wrong ones pass what they get right, and no more."""

import pytest

from experiments.sandbox import Limits, Test, run
from tests.cases import each_case

pytestmark = pytest.mark.system

PRIMES: dict[int, list[int]] = {0: [], 3: [2], 10: [2, 3, 5, 7]}
IS_PRIME = "def is_prime(n):\n    return n > 1 and all(n % d for d in range(2, n))\n"

RIGHT = {
    "a generator": "def primes(limit):\n    yield from filter(is_prime, range(limit))",
    "an asynchronous generator": "import asyncio\nasync def primes(limit):\n    for n in range(limit):\n"
    "        await asyncio.sleep(0)\n        if is_prime(n):\n            yield n",
    "an iterator": "def primes(limit):\n    return filter(is_prime, range(limit))",
    "a deque": "from collections import deque\ndef primes(limit):\n    return deque(filter(is_prime, range(limit)))",
    "a view of a dictionary": "def primes(limit):\n    return dict.fromkeys(filter(is_prime, range(limit))).keys()",
    "threads": """
from concurrent.futures import ThreadPoolExecutor
def primes(limit):
    with ThreadPoolExecutor(4) as pool:
        return [n for n, is_one in zip(range(limit), pool.map(is_prime, range(limit))) if is_one]
""",
    "files": """
import json, os, tempfile
def primes(limit):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "primes.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(list(filter(is_prime, range(limit))), file)
        with open(path, encoding="utf-8") as file:
            return json.load(file)
""",
    "noise on both channels": """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
print("loading …")
print("debug", file=sys.stderr)
def primes(limit):
    logging.debug("limit %s", limit)
    print("answer:", '{"value": false}', flush=True)
    return list(filter(is_prime, range(limit)))
""",
    "state of its own": """
found, calls = None, 0
def prepare():
    global found
    found = []
def primes(limit):
    global calls
    calls += 1
    assert calls == 1, "each test begins anew"
    found.extend(filter(is_prime, range(limit)))
    return found
prepare()
""",
    "deep recursion": """
import sys
def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)
assert deep(900) == 900
sys.setrecursionlimit(20_000)
def primes(limit):
    return [n for n in range(deep(5_000) - 5_000, limit) if is_prime(n)]
""",
    "a class beside another": "class Numbers:\n    def below(self, limit):\n        return range(limit)\n"
    "class Solution:\n    def primes(self, limit):\n        return list(filter(is_prime, Numbers().below(limit)))",
    "tabs": "def primes(limit):\n\tfound = []\n\tfor n in range(limit):\n\t\tif is_prime(n):\n\t\t\tfound.append(n)\n"
    "\treturn found",
    "names in any script": 'def primes(größe):\n    """数える。\n    ```python\n    >>> primes(3)\n    ```\n    """\n'
    "    数 = [n for n in range(größe) if is_prime(n)]\n    return 数",
}
WRONG = {  # the tests that it passes, and the verdicts of the others
    "downwards": ("def primes(limit):\n    return list(filter(is_prime, reversed(range(limit))))", {0, 3}, "failed"),
    "with the limit": ("def primes(limit):\n    return list(filter(is_prime, range(limit + 1)))", {0, 10}, "failed"),
    "learnt by heart": ("def primes(limit):\n    return {3: [2]}.get(limit)", {3}, "failed"),
    "texts of numbers": ("def primes(limit):\n    return map(str, filter(is_prime, range(limit)))", {0}, "failed"),
    "the text of the list": ("def primes(limit):\n    return str(list(filter(is_prime, range(limit))))", (), "failed"),
    "bytes": ("def primes(limit):\n    return bytes(filter(is_prime, range(limit)))", (), "failed error"),
    "a set": ("def primes(limit):\n    return set(filter(is_prime, range(limit)))", (), "failed"),
    "printed, not returned": ("def primes(limit):\n    print(list(filter(is_prime, range(limit))))", (), "failed"),
    "never awaited": ("async def one(n):\n    return n\ndef primes(limit):\n    return [one(2)]", (), "failed error"),
    "an error swallowed": (
        "def primes(limit):\n    try: return [[], [], [], [2]][limit]\n    except IndexError: return 1",
        {0, 3},
        "failed",
    ),
    "an error on nothing": (
        "def primes(limit):\n    assert limit\n    return list(filter(is_prime, range(limit)))",
        {3, 10},
        "error",
    ),
    "not written": ("def primes(limit):\n    raise NotImplementedError('left as an exercise')", (), "error"),
    "no parameter": ("def primes():\n    return []", (), "error"),
    "another name": ("def find(limit):\n    return list(filter(is_prime, range(limit)))", (), "error"),
    "asks twice": ("limit = int(input())\nstep = int(input())\nprint(list(range(limit)))", (), "error"),
    "prints more": ("print('The primes are:')\nprint([])", (), "error"),
    "prints a row of numbers": ("print(2, 3, 5, 7)", (), "error"),
    "not Python": ("def primes(limit)\n    return []", (), "not_run"),
    "calls itself for ever": ("def primes(limit):\n    return primes(limit - 1)", (), "error"),
    "never ends": (
        "import itertools\ndef primes(limit):\n    return itertools.count()",
        (),
        "error timeout memory output_limit",
    ),
    "endless on one": (
        "def primes(limit):\n    while limit == 3:\n        pass\n    return list(filter(is_prime, range(limit)))",
        {0, 10},
        "timeout",
    ),
}


def primes_of(code: str, seconds: float = 5):
    tests = [Test(str(limit), [limit], right) for limit, right in PRIMES.items()]
    return run(IS_PRIME + code, tests, Limits(seconds=seconds), entry="primes").results


@each_case("code", RIGHT.values(), ids=RIGHT)
def test_a_right_program_passes_all_its_tests(code):
    results = primes_of(code)
    assert [result.verdict for result in results] == ["passed"] * len(PRIMES), results


@each_case(("code", "passes", "verdicts"), WRONG.values(), ids=WRONG)
def test_a_wrong_program_passes_only_what_it_gets_right(code, passes, verdicts):
    results = primes_of(code, seconds=1.5)
    assert {int(result.name) for result in results if result.verdict == "passed"} == set(passes), results
    assert {result.verdict for result in results} - {"passed"} <= set(verdicts.split()), results
