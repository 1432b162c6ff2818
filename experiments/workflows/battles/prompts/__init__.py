"""The judge prompts: every module of this folder is one, and is found by being here.

A prompt's version is a hash over all that the judge is told, the JSON schema of its reply and whether it may say tie:
equal rules, equal version. Another version is another board.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import cast

from experiments.workflows.battles.judged import Judged, JudgePrompt, Parts, Shown
from experiments.workflows.battles.layout import asked_again

_SAMPLE = Shown(sample=1, first=2, second=3, token="0")  # noqa: S106 — an example's fence


@dataclass(frozen=True, slots=True)
class Known:
    """A judge prompt and its version. modalities: the kinds of output that it judges, "text" or "image"."""

    name: str
    title: str
    modalities: tuple[str, ...]
    allows_tie: bool
    version: str
    module: JudgePrompt

    @property
    def schema(self) -> dict[str, object]:
        return self.module.SCHEMA

    def parts(self, shown: Shown) -> Parts:
        return self.module.parts(shown)

    def read(self, text: str) -> Judged:
        return self.module.read(text)


def known(module: JudgePrompt) -> Known:
    """A plug-in as the workflow uses it."""
    return Known(module.NAME, module.TITLE, module.MODALITIES, module.ALLOWS_TIE, _version(module), module)


def _version(module: JudgePrompt) -> str:
    said = [part if isinstance(part, str) else f"\0{part.what}" for part in asked_again(module.parts(_SAMPLE))]
    rules = json.dumps([said, module.SCHEMA, module.ALLOWS_TIE], ensure_ascii=False)
    return hashlib.sha256(rules.encode()).hexdigest()[:12]


def _found() -> Mapping[str, Known]:
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    prompts = [known(cast(JudgePrompt, module)) for module in modules]
    return {prompt.name: prompt for prompt in sorted(prompts, key=lambda prompt: prompt.name)}


PROMPTS: Mapping[str, Known] = _found()
