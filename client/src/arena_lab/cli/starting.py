"""What `arena run` is to create: read from a file, then from the command line, which has the last word."""

import json
import re
import sys
import tomllib
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena_lab.errors import ArenaError

WORKFLOWS = ("arena", "starchamber", "council", "debate", "battles", "coding")
PROMPT = {"starchamber": "first_message", "council": "question", "coding": "topic"}
TURNS = {"coding": "cycles", "debate": "rounds"}
FIRST_SEATS = {
    "arena": ("A", "B"),
    "starchamber": ("model",),
    "debate": ("A", "B", "C"),
    "battles": ("judge", "judge-2", "judge-3", "judge-4"),
}
NUMBERED_SEATS = {"council": "member", "coding": "coder"}
SEATED = re.compile(r"([A-Za-z][\w-]*)=(.+)")  # a model's own name may have an = in it, after a / or a :
KNOWN = {"workflow", "title", "project", "config", "cast"}


class Misunderstood(ArenaError):
    """Something on the command line or in the file is no setting."""


@dataclass(slots=True)
class Plan:
    """An experiment to be created."""

    title: str = ""
    project: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    cast: dict[str, dict[str, Any]] = field(default_factory=dict)


def plan_of(asked: Namespace) -> Plan:
    """Raises Misunderstood."""
    plan = _from_file(Path(asked.config), asked.workflow) if asked.config else Plan()
    plan.title, plan.project = asked.title or plan.title, asked.project or plan.project
    if asked.prompt is not None:
        plan.config[PROMPT.get(asked.workflow, "prompt")] = _text(asked.prompt)
    if asked.turns is not None:
        plan.config[TURNS.get(asked.workflow, "max_turns")] = asked.turns
    if asked.dataset is not None:
        plan.config["dataset"] = asked.dataset
    for given in asked.set:
        name, value = _assigned(given, "--set", "limits.cost=1")
        _put(plan.config, name.split("."), value)
    for seat, model in _seated(asked.workflow, asked.model):
        plan.cast.setdefault(seat, {})["model"] = model
    for given in asked.param:
        name, value = _assigned(given, "--param", "A.temperature=0.2")
        seat, _, param = name.partition(".")
        plan.cast.setdefault(seat, {}).setdefault("params", {})[param] = value
    return plan


def _from_file(path: Path, workflow: str) -> Plan:
    """TOML by its ending, else JSON."""
    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise Misunderstood(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise Misunderstood(f"{path} cannot be understood: {error}.") from error
    if not isinstance(found, dict) or set(found) - KNOWN:
        raise Misunderstood(f"{path} may hold {', '.join(sorted(KNOWN))}, and nothing else.")
    if found.get("workflow", workflow) != workflow:
        raise Misunderstood(f"{path} is for {found['workflow']}, not for {workflow}.")
    cast = {seat: {"model": one} if isinstance(one, str) else dict(one) for seat, one in found.get("cast", {}).items()}
    return Plan(found.get("title", ""), found.get("project", ""), dict(found.get("config", {})), cast)


def _text(given: str) -> str:
    """@NAME: what the file says; -: what is typed or piped in."""
    if given == "-":
        return sys.stdin.read().strip()
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise Misunderstood(f"{given[1:]} cannot be read: {error.strerror}.") from error


def _assigned(given: str, option: str, example: str) -> tuple[str, Any]:
    name, sign, value = given.partition("=")
    if not sign or not name:
        raise Misunderstood(f"{option} {given}: write a name and a value, such as {option} {example}.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _put(config: dict[str, Any], path: list[str], value: Any) -> None:
    *above, name = path
    for part in above:
        config = config.setdefault(part, {})
        if not isinstance(config, dict):
            raise Misunderstood(f"--set {'.'.join(path)}: {part} holds a value, and no settings.")
    config[name] = value


def _seated(workflow: str, models: list[str]) -> list[tuple[str, str]]:
    """Models without a seat take the first ones that nobody else does, in order."""
    named = [(found[1], found[2]) for model in models if (found := SEATED.fullmatch(model))]
    others = [model for model in models if not SEATED.fullmatch(model)]
    taken = {seat for seat, _model in named}
    free = [seat for seat in _seats(workflow, len(models)) if seat not in taken]
    if len(others) > len(free):
        raise Misunderstood(f"--model {others[len(free)]}: say which seat it takes, as SEAT=MODEL.")
    return named + list(zip(free, others, strict=False))


def _seats(workflow: str, count: int) -> tuple[str, ...]:
    if workflow in NUMBERED_SEATS:
        return tuple(f"{NUMBERED_SEATS[workflow]}-{number}" for number in range(1, count + 1))
    return FIRST_SEATS[workflow]
