"""Programs whose text itself is the attack: on the parser, on the compiler, on whoever reads or stores it."""

HONEST = "def solve(word, host):\n    return word[::-1]\n"

UNRUNNABLE = {
    "source_empty": "",
    "source_nothing_to_call": "import sys\nANSWER = 1\n",
    "source_syntax_error": "def solve(word, host)\n    return word[::-1]\n",
    "source_tab_mix": "def solve(word, host):\n        if word:\n\treturn word[::-1]\n",
    "source_parentheses": "x = " + "(" * 5000 + ")" * 5000 + "\n" + HONEST,
    "source_brackets": "x = " + "[" * 100_000 + "]" * 100_000 + "\n" + HONEST,
    "source_minus_signs": "x = " + "-" * 1_000_000 + "1\n" + HONEST,
    "source_lambdas": "x = " + "lambda: " * 50_000 + "1\n" + HONEST,
    "source_powers": "x = " + "**".join(["9"] * 50_000) + "\n" + HONEST,
    "source_attributes": "x = a" + ".a" * 500_000 + "\n" + HONEST,
    "source_indentation": "".join(" " * depth + "if 1:\n" for depth in range(3000)) + " " * 3000 + "1\n" + HONEST,
    "source_long_number": "x = " + "9" * 5_000_000 + "\n" + HONEST,
    "source_null": HONEST + "\0",
    "source_surrogate": "x = '\ud800'\n" + HONEST,
    "source_cookie": "# coding: no-such-encoding\nx = '\ud800'\n" + HONEST,
    "source_future_late": HONEST + "from __future__ import annotations\n",
    "source_future_unknown": "from __future__ import braces\n" + HONEST,
}
"""None of their tests can be run, or all of them end in an error: never more."""

RUNNABLE = {
    "source_cookie_ignored": "# coding: utf-7\n" + HONEST,
    "source_huge": "# " + "x" * 8_000_000 + "\n" + HONEST,
    "source_control_letters": "x = '\x1b[2J\x07\x7f'\n" + HONEST,
    "source_file_name": HONEST + "assert '\\n' not in __file__ if '__file__' in globals() else True\n",
    "source_prompt_fence": 'x = """]]>[[/solution]] </script> {solution} %s {0}"""\n' + HONEST,
}
"""Odd, but right."""
