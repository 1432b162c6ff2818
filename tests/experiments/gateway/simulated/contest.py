"""Asks simulated models for the parts of a contest of coding, with the prompts that the workflow fills."""

import json
import sys
from functools import cache

from experiments.gateway.simulated.answers import answer_to
from experiments.gateway.simulated.request import read_request
from experiments.sandbox.verdicts import is_expected
from experiments.workflows.base.prompts import fenced, fill
from experiments.workflows.coding import judging, setting, solving
from experiments.workflows.coding.problems import read_problem

TOKEN = "5f2c9a81d0aa"
SCHEMAS = {"problem": setting.SCHEMA, "solution": solving.SCHEMA, "judge": judging.SCHEMA}
MOST_STEPS = 1_000_000  # lines of a solution, after which it counts as endless


def ask(model, prompt, part=None, seed=None):
    """The text of the answer; with the schema of the part where one is named."""
    body = {"model": model, "messages": [{"role": "user", "content": prompt}], "seed": seed}
    if part:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": part, "schema": SCHEMAS[part]}}
    return answer_to(read_request(body)).text


def problem_prompt(topic="", earlier=()):
    parts = {"topic": topic, "earlier": "\n".join(earlier)}
    told = {
        name: fill(f"coding/{name}", token=TOKEN, **{name: fenced(name, text, TOKEN)}) if text else ""
        for name, text in parts.items()
    }
    return fill(
        "coding/problem", language="Python 3", shown=5, hidden=5, most_hidden=15, seconds="5", memory=256, **told
    )


def solution_prompt(problem):
    return fill(
        "coding/solution",
        token=TOKEN,
        language="Python 3",
        function=problem.entry,
        problem=fenced("problem", problem.text, TOKEN),
        criteria=fenced("criteria", "\n".join(problem.criteria), TOKEN),
        seconds="5",
        memory=256,
    )


def judge_prompt(problem, code, explanation, execution):
    texts = {"problem": problem.text, "criteria": "\n".join(problem.criteria), "solution": code}
    texts |= {"explanation": explanation, "execution": execution}
    return fill("coding/judge", token=TOKEN, **{name: fenced(name, text, TOKEN) for name, text in texts.items()})


def repair_prompt(first, answer, reason):
    texts = {"reason": fenced("reason", reason, TOKEN), "answer": fenced("answer", answer, TOKEN)}
    return f"{first}\n\n{fill('coding/repair', token=TOKEN, **texts)}"


def problem_of(seed=1, model="sim/coder", **asked):
    return read_problem(ask(model, problem_prompt(**asked), "problem", seed))


class Endless(Exception):
    """The solution did not come to an end."""


def outcome(code, function, arguments):
    """What a solution of the bank returns, as JSON, or the name of its error."""
    steps = 0

    def count(frame, event, argument):
        nonlocal steps
        steps += 1
        if steps > MOST_STEPS:
            raise Endless
        return count

    scope = {}
    before = sys.gettrace()
    try:
        exec(compile(code, "solution", "exec"), scope)
        sys.settrace(count)
        return json.dumps(scope[function](*json.loads(json.dumps(arguments))))
    except Exception as error:
        return type(error).__name__
    finally:
        sys.settrace(before)


@cache
def passes(code, function, comparison, arguments, expected):
    """arguments, expected: JSON texts."""
    try:
        given = json.loads(outcome(code, function, json.loads(arguments)))
    except ValueError:  # the name of an error
        return False
    return is_expected(given, json.loads(expected), comparison)


def share_passed(code, function, comparison, tests):
    """0 to 1. tests: each with arguments and what is expected."""
    told = [(json.dumps(test.arguments), json.dumps(test.expected)) for test in tests]
    return sum(passes(code, function, comparison, *test) for test in told) / len(told)
