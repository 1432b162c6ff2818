"""The values that cross the gateway's border: what is asked of a model and what comes back."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, Self

Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length", "content_filter", "tool_calls", "stopped"]
QUANTIZATIONS = ("int4", "int8", "fp4", "fp6", "fp8", "fp16", "bf16", "fp32")  # as OpenRouter calls them
CostSource = Literal["provider", "price", "unknown"]


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image of a message: a data URI or, where the provider fetches them, an https address.

    name: what stands for it in a ledger, where its bytes would be too many. pixels: 0 when that is not known.
    """

    url: str
    name: str = ""
    pixels: int = 0


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt: a text, with images after it; or `parts`, texts and images as they follow each other."""

    role: Role
    content: str = ""
    images: tuple[ImagePart, ...] = ()
    parts: tuple[str | ImagePart, ...] = ()

    @property
    def text(self) -> str:
        """All of its text in one."""
        return "".join(part for part in self.parts if isinstance(part, str)) if self.parts else self.content

    @property
    def pictures(self) -> tuple[ImagePart, ...]:
        """All of its images."""
        return (*self.images, *(part for part in self.parts if isinstance(part, ImagePart)))

    @property
    def is_text(self) -> bool:
        return not self.pictures


@dataclass(frozen=True, slots=True)
class Params:
    """Sampling parameters; None leaves the provider's own default.

    temperature 0-2, top_p 0-1, max_tokens >= 1, top_logprobs 0-20 (None asks for no logprobs).
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    top_logprobs: int | None = None
    reasoning_effort: str | None = None


@dataclass(frozen=True, slots=True)
class Routing:
    """OpenRouter's provider routing. The default asks for exactly the model named, without a silent fallback."""

    allow_fallbacks: bool = False
    require_parameters: bool = True
    order: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    quantizations: tuple[str, ...] = ()
    data_collection: Literal["allow", "deny"] | None = None

    @classmethod
    def pinned(cls, words: str) -> Self:
        """To the upstreams that a text names, in this order and no others, and to the quantizations that stand among
        them: "deepinfra, together, bf16". Empty for whichever.
        """
        named = tuple(filter(None, (word.strip() for word in words.split(","))))
        upstreams = tuple(name for name in named if name not in QUANTIZATIONS)
        return cls(order=upstreams, only=upstreams, quantizations=tuple(one for one in named if one in QUANTIZATIONS))


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a provider model accepts. Catalogue data, never guessed from a model's name.

    schema: the strictest `response_format` the model honours. reasoning_tags: the model thinks inside its content
    (`<think>`), so tags are split off; a literal tag inside a code block stays. reasoning_opened: the chat template
    writes the opening tag itself, so that an answer begins inside the thinking.
    """

    system_role: bool = True
    temperature: bool = True
    seed: bool = True
    logprobs: bool = True
    images: bool = False
    schema: Literal["json_schema", "json_object", "none"] = "json_schema"
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    reasoning_effort: bool = False
    reasoning_tags: bool = True
    reasoning_opened: bool = False
    stream_usage: bool = True
    context_tokens: int | None = None
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """Money per token in US dollars, as listed on one day. None means not listed, which is not free."""

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    per_request: Decimal = Decimal(0)

    def at(self, share: Decimal) -> "Price":
        """A share of it, 0 to 1: what a batch costs."""
        cached = None if self.cached_input is None else self.cached_input * share
        return Price(self.input * share, self.output * share, cached, self.per_request * share)


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds, and bytes where the name says so.

    progress: the longest wait between two pieces of content; keep-alive comments do not count as progress. total_bytes:
    of the answer, unpacked; a token costs some hundred. total_chars: of text and reasoning, which are kept.
    """

    connect: float = 10.0
    first_byte: float = 120.0
    progress: float = 60.0
    total: float = 900.0
    event_bytes: int = 1 << 20
    total_bytes: int = 32 << 20
    total_chars: int = 4 << 20


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to one provider model.

    schema: a JSON schema that the answer has to follow. request_id: sent as `X-Client-Request-Id`, so that a provider's
    ledger and ours can be compared; providers do not deduplicate by it.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    params: Params = Params()
    schema: dict[str, object] | None = None
    schema_name: str = "answer"
    request_id: str = ""
    routing: Routing | None = None
    capabilities: Capabilities = Capabilities()
    deadlines: Deadlines = Deadlines()


@dataclass(frozen=True, slots=True)
class TokenAlternative:
    token: str
    logprob: float


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One produced token: natural logarithm of its probability (<= 0) and what else was likely."""

    token: str
    logprob: float
    alternatives: tuple[TokenAlternative, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them. The three input counts are disjoint; reasoning is part of output.

    estimated: the provider reported nothing that can be believed, and the counts are ours, from the text's length.
    """

    input_tokens: int
    output_tokens: int
    reasoning_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    provider_cost: Decimal | None = None
    estimated: bool = False

    @property
    def total_input(self) -> int:
        return self.input_tokens + self.cached_input_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a streaming answer. Joined in order, the pieces are the completion's text and reasoning."""

    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a call returned.

    finish_reason: None when the stream ended without one. native_finish_reason: the provider's own word.
    logprobs: None when not asked for or not given; `logprobs_missing` says that they were asked for in vain.
    truncated_prompt: the provider seems to have cut the prompt (its token count says so).
    """

    text: str = ""
    reasoning: str = ""
    finish_reason: FinishReason | None = None
    native_finish_reason: str = ""
    refusal: str = ""
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    logprobs_missing: bool = False
    served_model: str = ""
    served_provider: str = ""
    generation_id: str = ""
    system_fingerprint: str = ""
    truncated_prompt: bool = False
    warnings: tuple[str, ...] = field(default_factory=tuple)
