"""What a request says, read as a participant would: the scenario, what the other said last, how often I spoke."""

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from experiments.gateway.simulated.pictures import Picture, read_pictures
from experiments.gateway.simulated.tokens import count_tokens, is_mostly_chinese

_FENCE: Final = re.compile(r"\[\[([\w-]+) ([0-9a-f]{4,})\]\]\n?(.*?)\n?\[\[/\1 \2\]\]", re.DOTALL)
_CUE: Final = re.compile(
    r"\b(begin|start|continue|respond|reply|answer|open the|carry|your turn|go ahead|speak)\b|继续|开始|回应|发言",
    re.IGNORECASE,
)
_CUE_TOKENS: Final = 40
# What a platform appends to a scenario is not what the scenario is about.
_RULES: Final = re.compile(r"^(?:You are [^.\n]{1,60}\. You are in a|How this works|Rules\b|规则)", re.MULTILINE)
_SCENARIO_FENCES: Final = ("scenario", "objectives", "task", "topic", "question")


class BadRequest(Exception):
    """The body is no chat completion request; the message says what is wrong with it."""


@dataclass(frozen=True)
class Prompt:
    """The messages of one request as (role, text), and the pictures that were among them."""

    messages: tuple[tuple[str, str], ...]
    pictures: tuple[Picture, ...] = ()

    @cached_property
    def whole(self) -> str:
        return "\n\n".join(text for _, text in self.messages)

    @cached_property
    def fences(self) -> dict[str, str]:
        """Untrusted text by fence name; of several with the same name the last."""
        return {match[1]: match[3] for match in _FENCE.finditer(self.whole)}

    @cached_property
    def instructions(self) -> str:
        """Everything outside the fences."""
        return _FENCE.sub(" ", self.whole)

    @cached_property
    def own_messages(self) -> list[str]:
        return [text for role, text in self.messages if role == "assistant"]

    @cached_property
    def scenario(self) -> str:
        for name in _SCENARIO_FENCES:
            if name in self.fences:
                return self.fences[name]
        system = "\n".join(text for role, text in self.messages if role in ("system", "developer"))
        first = next((text for role, text in self.messages if role == "user"), "")
        return _RULES.split(unfenced(system), maxsplit=1)[0].strip() or unfenced(first or system)

    @cached_property
    def previous(self) -> str:
        """The other side's last message; empty when there was none, as in an opening."""
        for name in ("message", "message-A", "message-B"):
            if name in self.fences:
                return self.fences[name]
        heard = [unfenced(text) for text in self._heard_since_own() if not _is_cue(text)]
        return heard[0] if heard and heard[0] != self.scenario else ""

    @cached_property
    def is_chinese(self) -> bool:
        return is_mostly_chinese(self.previous or self.scenario)

    @cached_property
    def token_count(self) -> int:
        shown = sum(picture.tokens for picture in self.pictures)
        return shown + sum(count_tokens(text) + 4 for _, text in self.messages)

    @cached_property
    def cached_token_count(self) -> int:
        """Tokens of the prefix that a provider would have cached since this participant's last message."""
        if not self.own_messages:
            return 0
        last = max(index for index, (role, _) in enumerate(self.messages) if role == "assistant")
        return sum(count_tokens(text) + 4 for _, text in self.messages[:last])

    def _heard_since_own(self) -> list[str]:
        heard: list[str] = []
        for role, text in reversed(self.messages):
            if role == "assistant":
                break
            if role == "user":
                heard.insert(0, text)
        return heard


def read_prompt(body: dict[str, Any]) -> Prompt:
    """Raises BadRequest."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("'messages' must be a non-empty array")
    read = tuple(_read_message(message) for message in messages)
    return Prompt(read, tuple(picture for message in messages for picture in read_pictures(message.get("content"))))


def _read_message(message: object) -> tuple[str, str]:
    if not isinstance(message, dict) or message.get("role") not in ("system", "developer", "user", "assistant", "tool"):
        raise BadRequest("every message needs a role: system, developer, user, assistant or tool")
    return message["role"], _read_content(message.get("content"))


def _read_content(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise BadRequest("a message's content must be a string or an array of parts")
    parts = [part for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(part["text"] for part in parts)


def unfenced(text: str) -> str:
    """The text with the fences' markers taken away and what they hold kept."""
    return _FENCE.sub(lambda match: match[3], text)


def _is_cue(text: str) -> bool:
    return count_tokens(text) < _CUE_TOKENS and not _FENCE.search(text) and "?" not in text and bool(_CUE.search(text))


def seed_of(identity: str, prompt: Prompt, seed: object) -> int:
    """The same name, messages and seed give the same number in every process."""
    shown = [[picture.digest for picture in prompt.pictures]] if prompt.pictures else []
    canonical = json.dumps([identity, prompt.messages, seed, *shown], ensure_ascii=False)
    return int.from_bytes(hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).digest()[:8], "big")
