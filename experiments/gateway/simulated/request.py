"""A chat completion request, checked as far as a provider checks it, and what its prompt says."""

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Final

from experiments.gateway.simulated.models import Behaviour, Refused, parse_name
from experiments.gateway.simulated.text import count_tokens

ROLES: Final = ("system", "developer", "user", "assistant", "tool")
_FENCE: Final = re.compile(r"\[\[([\w-]+) ([0-9a-f]{4,})\]\]\n?(.*?)\n?\[\[/\1 \2\]\]", re.DOTALL)
_CUE: Final = re.compile(r"(?i)\A(?!.*\?).{0,40}\b(?:begin|start|continue|open the|carry|answer the last)\b|继续|开始")
_RULES: Final = re.compile(r"^You are [^.\n]{1,60}\. You are in a conversation|^How this works", re.MULTILINE)
_SUBJECTS: Final = ("task", "request", "question", "instruction", "problem", "instructions-A")


@dataclass(frozen=True, slots=True)
class Prompt:
    """fences: untrusted text by name. instructions: all other text. system: without a platform's rules. heard: what was
    said since the model spoke last. is_conversation: with another side. subject: the text that says what all is about.
    """

    messages: list[tuple[str, str]]
    pictures: list[bytes]
    fences: dict[str, str]
    instructions: str
    system: str
    heard: str
    is_conversation: bool
    subject: str
    language: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Request:
    model: str
    behaviour: Behaviour
    prompt: Prompt
    seed: int
    stream: bool
    include_usage: bool
    max_tokens: int | None
    top_logprobs: int | None
    schema: dict[str, Any] | None


def read_request(raw: bytes) -> Request:
    """Raises Refused."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the body is not JSON: {error}") from error
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        raise Refused("the body must be a JSON object whose 'model' is a string")
    behaviour, prompt = parse_name(body["model"]), _read_prompt(body.get("messages"))
    if prompt.pictures and not behaviour.personality.sees:
        raise Refused(f"sim/{behaviour.name} does not accept images")
    form, digests = body.get("response_format") or {}, [hashlib.sha256(one).hexdigest() for one in prompt.pictures]
    decisive = json.dumps([behaviour.name, behaviour.words, prompt.messages, body.get("seed"), digests])
    return Request(
        model=body["model"],
        behaviour=behaviour,
        prompt=prompt,
        seed=int(hashlib.sha256(decisive.encode()).hexdigest()[:16], 16),  # the same in every process
        stream=body.get("stream") is True,
        include_usage=(body.get("stream_options") or {}).get("include_usage") is True,
        max_tokens=body.get("max_completion_tokens", body.get("max_tokens")),
        top_logprobs=(body.get("top_logprobs") or 0) if body.get("logprobs") is True else None,
        schema=form["json_schema"]["schema"] if form.get("type") == "json_schema" else None,
    )


def _read_prompt(given: object) -> Prompt:
    """Raises Refused."""
    messages, pictures = list[tuple[str, str]](), list[bytes]()
    for message in given if isinstance(given, list) else []:
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            raise Refused(f"every message needs a role: {', '.join(ROLES)}")
        content = message.get("content") or ""
        parts: Any = [{"text": content}] if isinstance(content, str) else content
        urls = [part["image_url"]["url"] for part in parts if "image_url" in part]
        pictures += [base64.b64decode(url.partition("base64,")[2]) or url.encode() for url in urls]
        messages.append((message["role"], "\n".join(part.get("text", "") for part in parts)))
    if not messages:
        raise Refused("'messages' must be a non-empty array")
    whole = "\n\n".join(text for _, text in messages)
    fences = {match[1]: match[3] for match in _FENCE.finditer(whole)}
    open_texts = [(role, _FENCE.sub(lambda match: match[3], text).strip()) for role, text in messages]
    told = "\n".join(text for role, text in open_texts if role in ("system", "developer"))
    system = _RULES.split(told, maxsplit=1)[0].strip()
    since = max((place for place, (role, _) in enumerate(messages, 1) if role == "assistant"), default=0)
    said = [text.rpartition("SCENARIO\n")[2] for role, text in open_texts[since:] if role == "user"]
    heard = next((text for text in said if not _CUE.search(text)), "")
    has_rules = bool(_RULES.search(_FENCE.sub("", whole)))
    is_conversation = has_rules or (bool(system) and not heard.endswith(("?", "？")))
    fenced = next((fences[name] for name in _SUBJECTS if name in fences), "")
    subject = fenced or (system if is_conversation else "") or heard or system or whole
    decisive = (heard if is_conversation else "") or subject
    language = "zh" if 2 * len(re.findall(r"[\u3400-\u9fff]", decisive)) > len(decisive) / 2 else "en"
    instructions = " ".join(_FENCE.sub(" ", whole).split())
    tokens = 256 * len(pictures) + sum(count_tokens(text) + 4 for _, text in messages)
    return Prompt(messages, pictures, fences, instructions, system, heard, is_conversation, subject, language, tokens)
