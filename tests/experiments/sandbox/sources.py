"""Programs whose text itself is the attack: on the parser, on the compiler, on whoever reads or stores it."""

HONEST = "def solve(word):\n    return word[::-1]\n"

UNRUNNABLE = {
    "nothing to call": "import sys\nANSWER = 1\n",
    "brackets": "x = " + "[" * 100_000 + "]" * 100_000 + "\n" + HONEST,
    "attributes": "x = a" + ".a" * 500_000 + "\n" + HONEST,
    "indentation": "".join(" " * depth + "if 1:\n" for depth in range(3000)) + " " * 3000 + "1\n" + HONEST,
    "long number": "x = " + "9" * 5_000_000 + "\n" + HONEST,
    "cookie": "# coding: no-such-encoding\nx = '\ud800'\n" + HONEST,
    "future unknown": "from __future__ import braces\n" + HONEST,
    "ends at import": 'import os\nprint("ALL PASSED", flush=True)\nos._exit(0)\n' + HONEST,
    "never ends at import": "while True:\n    pass\n" + HONEST,
}
"""None of their tests passes."""

RUNNABLE = {
    "cookie ignored": "# coding: utf-7\n" + HONEST,
    "control letters": "x = '\x1b[2J\x07\x7f'\n" + HONEST,
    "file name": HONEST + "assert '\\n' not in __file__ if '__file__' in globals() else True\n",
    "prompt fence": 'x = """]]>[[/solution]] </script> {solution} %s {0}"""\n' + HONEST,
}
"""Odd, but right."""
