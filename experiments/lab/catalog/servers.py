"""Servers that providers run, each with what is known of it: what fills the form for a new provider."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Server:
    """slug: the name of a provider at first. is_local: it runs in the lab's own network, usually without a key.
    routes, batch_api: as in Provider.
    """

    slug: str
    label: Any
    base_url: str
    hint: Any = ""
    is_local: bool = False
    routes: bool = False
    batch_api: str = ""

    @property
    def initial(self) -> dict[str, object]:
        """Values of the form's fields."""
        return {
            "name": self.slug,
            "base_url": self.base_url,
            "needs_key": bool(self.base_url) and not self.is_local,
            "allow_private": self.is_local,
            "routes": self.routes,
            "batch_api": self.batch_api,
        }


SERVERS = (
    Server(
        "openrouter", "OpenRouter", "https://openrouter.ai/api/v1", _("Models of many makers, one key."), routes=True
    ),
    Server("openai", "OpenAI", "https://api.openai.com/v1", batch_api="openai"),
    Server(
        "anthropic",
        "Anthropic",
        "https://api.anthropic.com/v1",
        _("If the models are not listed, add them by name."),
    ),
    Server("gemini", "Gemini", "https://generativelanguage.googleapis.com/v1beta/openai"),
    Server("ollama", "Ollama", "http://localhost:11434/v1", is_local=True),
    Server("vllm", "vLLM", "http://localhost:8000/v1", is_local=True),
    Server("llama-cpp", "llama.cpp", "http://localhost:8080/v1", is_local=True),
    Server("lm-studio", "LM Studio", "http://localhost:1234/v1", is_local=True),
    Server("other", _("Other server"), "", _("Any server with the OpenAI chat completions API.")),
)
BY_SLUG = {server.slug: server for server in SERVERS}
