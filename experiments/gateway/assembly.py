"""Deltas become chunks as they come, and one completion at the end."""

import sys

from experiments.gateway.characters import Cleaner, clean
from experiments.gateway.chunks import Delta, normal_finish
from experiments.gateway.harmony import AnswerSplitter
from experiments.gateway.reasoning import Merged
from experiments.gateway.redaction import Redactor, redact
from experiments.gateway.types import ChatRequest, Chunk, Completion, FinishReason, TokenLogprob, Usage
from experiments.gateway.usage import prompt_was_cut, settle_usage

_NAMED = ("model", "provider", "id", "fingerprint")


class Assembly:
    """Everything that has arrived of one answer.

    pieces: grows with every delta that has content. tool: the first that the model calls. usage: the last report, as
    reports are cumulative. finish: the provider's word, empty before it came. usage_at_end: usage came with or after
    the finish reason. api_key: what the provider was asked with, and does not come to light wherever it is repeated.
    """

    def __init__(self, request: ChatRequest, warnings: tuple[str, ...] = (), *, api_key: str = "") -> None:
        accepts = request.capabilities
        self._request = request
        self._warnings = list(warnings)
        self._splitter = AnswerSplitter(opened=accepts.reasoning_opened) if accepts.reasoning_tags else None
        self._merged = Merged()
        self._api_key = api_key
        self._clean_text, self._clean_reasoning = Cleaner(), Cleaner()
        self._redact_text, self._redact_reasoning = Redactor(api_key), Redactor(api_key)
        self._lead = ""  # of the answer, as long as it is nothing but white space
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._logprobs: list[TokenLogprob] = []
        self._named = dict.fromkeys(_NAMED, "")
        self._native_finish = ""
        self.tool = ""
        self.finish = ""
        self.usage: Usage | None = None
        self.usage_at_end = False
        self.pieces = 0

    def name_generation(self, generation_id: str) -> None:
        """The id out of a header; one in the answer itself replaces it."""
        self._named["id"] = self._named_as(generation_id)

    def warn(self, remark: str) -> None:
        self._warnings.append(remark)

    def take(self, delta: Delta) -> Chunk | None:
        """What of the delta can be shown now."""
        if delta.text or delta.reasoning or delta.refusal or delta.tool:
            self.pieces += 1
            self._refusal.append(delta.refusal)
        self._note(delta)
        text = self._redact_text.feed(self._clean_text.feed(delta.text))
        return self._chunk(text, self._redact_reasoning.feed(self._clean_reasoning.feed(delta.reasoning)))

    def flush(self) -> Chunk | None:
        """What was held back until it was certain that nothing follows. Call once, at the end."""
        text = self._redact_text.feed(self._clean_text.close()) + self._redact_text.close()
        reasoning = self._redact_reasoning.feed(self._clean_reasoning.close()) + self._redact_reasoning.close()
        chunk = self._chunk(text, reasoning, last=True)
        if self._is_repeated:
            self._warnings.append("the provider repeated the key that it was asked with: it was taken out")
        if self._splitter is not None and self._splitter.unclosed and (self._text or self._reasoning):
            self._warnings.append("the thinking was never closed: everything after its tag is kept as reasoning")
        return chunk

    def completion(self) -> Completion:
        """All of it as a value; also for an answer that broke off. Usage is estimated where none can be believed."""
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        refusal = self._named_as("".join(self._refusal))
        usage, doubt = settle_usage(self.usage, self._request, text + reasoning + refusal)
        finish = self._finish_reason(usage)
        cut = prompt_was_cut(self._request, usage)
        return Completion(
            text=text,
            reasoning=reasoning,
            finish_reason=finish,
            native_finish_reason=self._named_as(self._native_finish or self.finish),
            refusal=refusal,
            usage=usage,
            logprobs=None if self._is_repeated else tuple(self._logprobs) or None,
            logprobs_missing=self._request.params.top_logprobs is not None and not self._logprobs,
            served_model=self._named["model"],
            served_provider=self._named["provider"],
            generation_id=self._named["id"],
            system_fingerprint=self._named["fingerprint"],
            truncated_prompt=cut,
            warnings=(*self._warnings, *self._remarks(doubt, finish, cut=cut)),
        )

    def _note(self, delta: Delta) -> None:
        self.tool = self.tool or self._named_as(delta.tool)[:80]
        if delta.logprobs:
            self._logprobs.extend(delta.logprobs)
        if delta.finish:
            self.finish = delta.finish
            self._native_finish = delta.native_finish
        if delta.usage is not None:
            self.usage = delta.usage
            self.usage_at_end = bool(self.finish)
        for name in _NAMED:
            if value := getattr(delta, name):
                self._named[name] = self._named_as(value)

    def _named_as(self, text: str) -> str:
        return redact(clean(text), self._api_key)

    @property
    def _is_repeated(self) -> bool:
        """Whether the key stood in the answer. Its tokens, one by one, would spell it."""
        return self._redact_text.found or self._redact_reasoning.found

    def _chunk(self, text: str, native: str, *, last: bool = False) -> Chunk | None:
        reasoning = self._merged.add("native", native) if native else ""
        if self._splitter is not None and (text or last):
            text, tagged = self._split(self._splitter, text, last=last)
            reasoning += tagged
        if reasoning:
            self._reasoning.append(reasoning)
        if text := self._without_lead(text, last=last):
            self._text.append(text)
        return Chunk(text, reasoning) if text or reasoning else None

    def _without_lead(self, text: str, *, last: bool) -> str:
        """Blank lines between the reasoning and the answer are no part of either."""
        if self._text:
            return text
        self._lead += text
        if not (self._lead.strip() or last):
            return ""
        text, self._lead = self._lead, ""
        return text.lstrip() if self._reasoning else text

    def _split(self, splitter: AnswerSplitter, content: str, *, last: bool) -> tuple[str, str]:
        text, reasoning = "", ""
        for piece in splitter.feed(content) + (splitter.close() if last else []):
            if piece.kind == "text":
                text += piece.text
            elif piece.kind == "reasoning":
                reasoning += self._merged.add("tags", piece.text)
        return text, reasoning

    def _finish_reason(self, usage: Usage) -> FinishReason | None:
        finish = normal_finish(self.finish)
        asked, most = self._request.params.max_tokens, self._request.capabilities.max_output_tokens
        limit = min(asked or sys.maxsize, most or sys.maxsize)
        at_limit = not usage.estimated and usage.output_tokens >= limit
        return "length" if finish == "stop" and at_limit else finish

    def _remarks(self, doubt: str, finish: FinishReason | None, *, cut: bool) -> list[str]:
        asked, served = _plain_name(self._request.model), _plain_name(self._named["model"])
        remarks = {
            "the provider gave no finish reason": not self.finish,
            f"unknown finish reason {self._named_as(self.finish)[:50]!r}": bool(self.finish) and finish is None,
            "the provider says stop, but the token limit was reached": finish != normal_finish(self.finish),
            doubt: bool(doubt),
            "the provider seems to have cut the prompt": cut,
            f"answered by {self._named['model']}": bool(served) and asked not in served and served not in asked,
        }
        return [remark for remark, applies in remarks.items() if applies]


def _plain_name(model: str) -> str:
    """A model's name without publisher and variant, as far as names of the same model commonly differ."""
    return model.rpartition("/")[2].partition(":")[0].casefold()
