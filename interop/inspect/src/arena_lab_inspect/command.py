"""`arena-inspect TASK`: plays an Inspect task on the platform, one experiment for each sample, through the API.

Of the task its dataset is taken and, unless `--model` names others, its model. Tools, sandboxes and scorers stay in
Inspect: a task whose solver needs them is played as its questions alone.
"""

import argparse
import json
import runpy
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage

from arena_lab import Arena

SUBJECT = {"starchamber": "first_message", "arena": "prompt", "debate": "prompt", "council": "question"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the id of each run. 2 where a sample cannot be played, which is said before anything is started."""
    asked = _parser().parse_args(arguments)
    task = load(asked.task, dict(one.split("=", 1) for one in asked.T))
    cast = dict(one.split("=", 1) for one in asked.model) or _model_of(task)
    samples = list(task.dataset)[: asked.limit]
    config = json.loads(asked.config)
    try:
        questions = [(sample, list(_config(sample, asked.workflow))) for sample in samples]
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    arena = Arena(asked.url, asked.token)
    for number, (sample, settings) in enumerate(questions, 1):
        title = f"{task.name}: {sample.id if sample.id is not None else number}"[:200]
        run = arena.play(asked.workflow, cast, {**config, **dict(settings)}, title=title, project=asked.project)
        sys.stdout.write(f"{run.id}\t{title}\n")
    return 0


def load(named: str, arguments: dict[str, str]) -> Task:
    """The task of `FILE.py@NAME`, or the only one of the file. Raises SystemExit where there is none, or several."""
    path, _at, name = named.partition("@")
    found = runpy.run_path(path)
    tasks = {key: value for key, value in found.items() if hasattr(value, "__registry_info__") and callable(value)}
    tasks = {key: value for key, value in tasks.items() if value.__registry_info__.type == "task"}
    if not name and len(tasks) == 1:
        [name] = tasks
    if name not in tasks:
        raise SystemExit(f"{Path(path).name} has the tasks {', '.join(tasks) or '(none)'}: name one as FILE.py@NAME.")
    made: Task = tasks[name](**arguments)
    return made


def _model_of(task: Task) -> dict[str, str]:
    if task.model is None:
        raise SystemExit("The task names no model. Name one for each participant: --model model=SLUG.")
    return {"model": str(task.model)}


def _config(sample: Sample, workflow: str) -> Iterator[tuple[str, Any]]:
    """The settings that a sample makes. Raises ValueError for what the workflow cannot hold."""
    messages = [sample.input] if isinstance(sample.input, str) else list(sample.input)
    texts = [_text(one, sample) for one in messages]
    systems = [text for text, one in zip(texts, messages, strict=True) if getattr(one, "role", "") == "system"]
    asked = [text for text, one in zip(texts, messages, strict=True) if getattr(one, "role", "user") == "user"]
    if len(systems) + len(asked) < len(messages) or len(asked) != 1:
        raise ValueError(f"Sample {sample.id}: a workflow begins with one message; this sample has a conversation.")
    if sample.choices:
        letters = (f"{chr(65 + place)}) {choice}" for place, choice in enumerate(sample.choices))
        asked[0] = "\n".join([asked[0], "", *letters])
    yield SUBJECT[workflow], asked[0]
    if systems:
        yield ("context" if workflow == "starchamber" else "system_prompt"), "\n\n".join(systems)


def _text(message: str | ChatMessage, sample: Sample) -> str:
    """Raises ValueError for pictures, sound and files."""
    if isinstance(message, str):
        return message
    if isinstance(message.content, list) and any(part.type != "text" for part in message.content):
        raise ValueError(f"Sample {sample.id}: only text can be played, and it has other content.")
    return message.text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="arena-inspect", description=__doc__)
    parser.add_argument("task", help="FILE.py or FILE.py@NAME")
    parser.add_argument("-T", action="append", default=[], metavar="NAME=VALUE", help="an argument of the task")
    parser.add_argument("--workflow", choices=sorted(SUBJECT), default="starchamber")
    parser.add_argument("--model", action="append", default=[], metavar="SEAT=SLUG", help="a model of the platform")
    parser.add_argument("--config", default='{"judge": false, "max_turns": 1}', help="further settings, as JSON")
    parser.add_argument("--limit", type=int, help="of samples")
    parser.add_argument("--project", default="", help="id of the project that pays")
    parser.add_argument("--url", help="of the platform; else ARENA_URL")
    parser.add_argument("--token", help="else ARENA_TOKEN")
    return parser
