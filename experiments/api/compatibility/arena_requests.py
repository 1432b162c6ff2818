"""What a client of LLM Arena sends, and what experiment it asks for with that."""

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from experiments.api.compatibility.naming import slug_of
from experiments.models import Run

UNREADABLE_TURNS = 30
UNLIMITED = -1
WHOLE = re.compile(r"\s*([+-]?\d{1,9})")
HIDDEN = "***"
KEY_HELP = "Ignored, and stored nowhere: models are asked with the keys that are kept here."


@extend_schema_field(OpenApiTypes.INT)
class Turns(serializers.Field[int, Any, int, Any]):
    """A number of turns, -1 for no limit; the client may send it as text."""

    default_error_messages = {"none": "Missing required field: maxTurns"}

    def to_internal_value(self, data: Any) -> int:
        if not data:
            self.fail("none")
        found = WHOLE.match(str(data))
        turns = int(found[1]) if found else UNREADABLE_TURNS
        return turns or UNREADABLE_TURNS

    def to_representation(self, value: int) -> int:
        return value


class Text(serializers.CharField):
    """As it was typed."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**{"required": False, "allow_blank": True, "default": "", "trim_whitespace": False, **more})


class ArenaStart(serializers.Serializer[Any]):
    experimentMode = serializers.ChoiceField(Run.Mode.choices, default="automatic")
    promptingMode = serializers.ChoiceField(["shared", "individual"])
    sharedPrompt = Text(allow_null=True)
    promptA = Text(allow_null=True)
    promptB = Text(allow_null=True)
    systemPrompt = Text(allow_null=True)
    maxTurns = Turns(help_text="-1 for no limit.")
    modelA = serializers.CharField(max_length=200)
    modelB = serializers.CharField(max_length=200)
    requestLogprobs = serializers.BooleanField(default=False)
    apiKeyA = serializers.CharField(required=False, allow_blank=True, allow_null=True, help_text=KEY_HELP)
    apiKeyB = serializers.CharField(required=False, allow_blank=True, allow_null=True, help_text=KEY_HELP)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["promptingMode"] == "shared" and not (attrs["sharedPrompt"] or "").strip():
            raise serializers.ValidationError({"sharedPrompt": [_("Write what the two models are to talk about.")]})
        if attrs["promptingMode"] == "individual":
            missing = [name for name in ("promptA", "promptB") if not (attrs[name] or "").strip()]
            if missing:
                raise serializers.ValidationError({name: [_("Write the instructions.")] for name in missing})
        return attrs


class ManualContinue(serializers.Serializer[Any]):
    """customPrompt: all that the model is sent; what it would be sent anyway when left out or blank."""

    targetModel = serializers.ChoiceField(["A", "B"], required=False, allow_null=True, default=None)
    customPrompt = Text(allow_null=True)


def config_of(asked: Mapping[str, Any]) -> dict[str, object]:
    individual = asked["promptingMode"] == "individual"
    turns = asked["maxTurns"]
    return {
        "mode": asked["experimentMode"],
        "prompting": asked["promptingMode"],
        "prompt": "" if individual else asked["sharedPrompt"],
        "prompts": {"A": asked["promptA"], "B": asked["promptB"]} if individual else None,
        "system_prompt": asked["systemPrompt"] or "",
        "max_turns": None if turns < 0 else turns,
        "logprobs": asked["requestLogprobs"],
    }


def cast_of(asked: Mapping[str, Any]) -> dict[str, object]:
    return {side: {"model": slug_of(asked[f"model{side}"], f"model{side}")} for side in ("A", "B")}


def echoed(config: Mapping[str, Any], slugs: Mapping[str, str]) -> dict[str, object]:
    """An experiment's configuration as the client sent it. Keys are hidden: there are none."""
    prompts = config.get("prompts") or {}
    return {
        "experimentMode": config["mode"],
        "promptingMode": config["prompting"],
        "sharedPrompt": config["prompt"],
        "promptA": prompts.get("A", ""),
        "promptB": prompts.get("B", ""),
        "systemPrompt": config["system_prompt"],
        "maxTurns": config["max_turns"] or UNLIMITED,
        "modelA": slugs.get("A", ""),
        "modelB": slugs.get("B", ""),
        "requestLogprobs": config["logprobs"],
        "apiKeyA": HIDDEN,
        "apiKeyB": HIDDEN,
    }
