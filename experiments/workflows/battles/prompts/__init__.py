"""The judge prompts: every module of this folder holds one, PROMPT, and is found by being here."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from experiments.workflows.battles.judge_prompt import JudgePrompt

PROMPTS: Mapping[str, JudgePrompt] = {
    module.name: import_module(f"{__name__}.{module.name}").PROMPT
    for module in sorted(iter_modules(__path__), key=lambda module: module.name)
}
