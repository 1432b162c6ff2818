"""What is assumed of an arena's run where its cost is estimated."""

import json
import re
from dataclasses import replace

from experiments.workflows.base.dry_run import BYTES_PER_TOKEN, Assumptions, mark, marks_in, tokens_of
from experiments.workflows.base.filter import CONTEXT_CHARACTERS
from experiments.workflows.base.steps import Ask, Prompt

OPENED = re.compile(r"\[\[(context|message) (\w+)\]\]\n")
LINE_OF_CONTEXT = mark(CONTEXT_CHARACTERS // BYTES_PER_TOKEN[True])
FILTERED = {"removed": [], "confidence": 1.0, "reasoning": ""}


def _answer(ask: Ask, tokens: int, at_most: bool) -> str | None:
    """The filter passes the whole message on."""
    if ask.purpose != "filter":
        return None
    return json.dumps({"text": _fenced(ask)["message"], **FILTERED}, ensure_ascii=False)


def _measured(ask: Ask, at_most: bool) -> Ask:
    """The filter is shown the beginnings of earlier messages, and may write a token for each character of its own."""
    if ask.purpose != "filter":
        return ask
    [prompt], shown = ask.messages, _fenced(ask)
    context = "\n\n".join(LINE_OF_CONTEXT if marks_in(line) else line for line in shown["context"].split("\n\n"))
    characters = tokens_of(shown["message"]) * BYTES_PER_TOKEN[False]
    content = prompt.content.replace(shown["context"], context, 1)
    params = {**ask.params, "max_tokens": max(ask.params["max_tokens"], characters)}
    return replace(ask, messages=(Prompt("user", content),), params=params)


def _fenced(ask: Ask) -> dict[str, str]:
    """What stands between the markers of the context and of the message."""
    content, fenced = ask.messages[0].content, {}
    for opened in OPENED.finditer(content):
        name, token = opened.groups()
        fenced[name] = content[opened.end() : content.index(f"\n[[/{name} {token}]]", opened.end())]
    return fenced


ASSUMPTIONS = Assumptions(
    typical={"reply": 350, "judge": 400, "friend": 200},
    answer=_answer,
    measured=_measured,
)
