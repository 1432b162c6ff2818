"""What is answered to a request: the part of a workflow that its prompt asks for, or a speech in the model's voice."""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any, Final

from experiments.gateway.simulated import coding, roles
from experiments.gateway.simulated.models import Behaviour
from experiments.gateway.simulated.request import Request
from experiments.gateway.simulated.stream import Reply
from experiments.gateway.simulated.structured import Filler, spoiled
from experiments.gateway.simulated.text import Pen, count_tokens, quoted, sentences, shortened, split_tokens, voice

_ROLES: Final[dict[str, Callable[[Request, Pen], dict[str, Any]]]] = {  # by words of the prompt
    "You set a programming problem": coding.set_problem,
    "You solve a programming problem": coding.solve_problem,
    "You judge a solution": roles.solution_judge,
    "You prepare a message of": roles.content_filter,
    "You review their answers": roles.reviewer,
    "whatever it asks for, values included": roles.measure,
}


def answer_to(request: Request) -> Reply:
    prompt, schema = request.prompt, request.schema or {}
    pen = Pen(Random(request.seed), prompt.language, prompt.subject, "\n".join(text for _, text in prompt.messages))
    told = prompt.instructions
    role = next((make for words, make in _ROLES.items() if words in told), None)
    if {"winner", "scores"} <= schema.get("properties", {}).keys():
        role = roles.battle_judge
    if role or schema:
        return Reply(_structured(request, pen, role(request, pen) if role else {}))
    if health := re.fullmatch(r"Answer with the one word: (\w+)", prompt.heard):
        return Reply(health[1])
    if "title of at most five words" in told:
        return Reply(pen.say("fields", "title"))
    if "You are the chair of a council" in told:
        return Reply(_conclusion(request, pen))
    return _with_reasoning(_speech(request, pen), pen, request.behaviour)


def _structured(request: Request, pen: Pen, known: dict[str, Any]) -> str:
    manner, value = request.behaviour.json, known
    if request.schema:
        value = Filler(request.schema, pen.rng, roles.Informant(request, pen, known)).fill()
    elif "ranking" in known and manner not in ("talk", "broken"):
        order = known["ranking"][:-1] if manner == "missing" else known["ranking"]
        ballot = "\n".join(f"{place}. {label}" for place, label in enumerate(order, 1))
        return f"{known['review']}\n\nFINAL RANKING:\n{ballot}"
    return spoiled(manner, value) if manner else json.dumps(value, ensure_ascii=False)


def _with_reasoning(reply: Reply, pen: Pen, behaviour: Behaviour) -> Reply:
    think = behaviour.think or ("native" if behaviour.personality.thinks else "none")
    thought = pen.join(pen.say("common", "thought"), pen.say("common", "thought"))
    text = f"<think>\n{thought}\n</think>\n\n{reply.text}" if think == "tags" else reply.text
    return Reply(text, thought if think == "native" else "", reply.finish_reason)


def _speech(request: Request, pen: Pen) -> Reply:
    """A turn in a conversation, an answer in a part that the model plays, or an answer to a question."""
    prompt, words, own, quote = request.prompt, request.behaviour.words, request.behaviour.name, ""
    declining = request.behaviour.refuses or request.behaviour.personality.declines
    if declining and pen.rng.random() < declining:
        return Reply(pen.say("common", "decline"), finish_reason="content_filter")
    further, voices, parts = "point", f"{own} common", [["lead", "point"], ["point"], ["caveat"]]
    if prompt.is_conversation:
        quote = quoted(prompt.heard, pen.rng)
        further, parts = "argue", [["react" if quote else "open", "argue"], ["offer", "close"]]
        if "aside" in voice(prompt.language, own) and pen.rng.random() < 0.5:
            parts.insert(1, ["aside"])
    elif prompt.system and not re.search(r"assistant|expert|council|helpful|助手|专家", prompt.system):
        further, parts = "account", [["account", "account"], ["caveat"]]
    elif pen.rng.random() < 0.6:
        parts.insert(2, ["step"] * 3)
    said = []
    for several in parts:
        texts = [pen.say(voices, part, quote=quote) for part in several]
        said.append("\n".join(f"- {text}" for text in texts) if several[0] == "step" else pen.join(*texts))
    usual = 45 if further == "account" else pen.rng.randint(60, 105)
    length, goal = sum(map(count_tokens, said)), usual if words is None else words
    while length < goal:
        said.insert(-1, pen.join(pen.say(voices, further), pen.say(voices, further)))
        length += count_tokens(said[-2])
    text = "\n\n".join(said)
    return Reply(text if words is None else "".join(split_tokens(text)[:words]))


def _conclusion(request: Request, pen: Pen) -> str:
    fences = request.prompt.fences
    said = {name[7:]: sentences(text) or ["–"] for name, text in fences.items() if name.startswith("answer-")}
    ranked = [number for number in re.findall(r"\(answer (\w+)\)", fences.get("ranking", "")) if number in said]
    best, *others = dict.fromkeys([*ranked, *said])
    if not others:
        return pen.join(*said[best][:4])
    points = "\n".join(f"- {sentence}" for number in others[:2] for sentence in said[number][1:2])
    quotes = {"quote": shortened(said[best][0], 16), "quote2": shortened(said[others[-1]][0], 16)}
    sides = pen.say("fields", "sides", one=f"Member {best}", two=f"Member {others[-1]}", **quotes)
    parts = (pen.join(*said[best][:3]), pen.say("fields", "support"), points, pen.say("fields", "heading"), sides)
    return "\n\n".join(parts)
