"""Batches: many chat completions as one file, answered within a day at a part of the price, as OpenAI has them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import quote

from experiments.gateway.answer import Answer
from experiments.gateway.client import Client
from experiments.gateway.errors import (
    BadAnswer,
    BatchExpired,
    GatewayError,
    NeedsPerson,
    Origin,
    OutcomeUnknown,
    RateLimited,
    classify,
    classify_event,
)
from experiments.gateway.streaming import read_error
from experiments.gateway.types import ChatRequest, Completion, Deadlines

WINDOW = "24h"
WINDOW_SECONDS = 86_400.0
MOST_PAGES, PER_PAGE = 10, 100
FILES = Deadlines(total=300.0, total_bytes=512 << 20)
NOT_RUN = ("batch_expired", "batch_cancelled")  # codes of lines that the provider did not come to
UNRUN = "The batch ended before the provider came to this request. It was not run."

Stage = Literal["going", "ended", "failed"]
# Words for states at providers; any other word means that it goes on.
STAGES: Mapping[str, Stage] = {
    **dict.fromkeys(("completed", "expired", "cancelled"), "ended"),
    "failed": "failed",
}


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as its provider tells of it. failed: nothing of it was run, and `problem` says why. is_complete: the
    provider came to every line. done: lines that are answered, failures among them; total: 0 where it is not told.
    """

    id: str
    stage: Stage
    is_complete: bool
    done: int
    total: int
    files: tuple[str, ...]
    problem: GatewayError | None = None


def line_of(custom_id: str, body: Mapping[str, object]) -> bytes:
    """One request in the file of a batch."""
    line = {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(line, sort_keys=True).encode() + b"\n"


async def upload(client: Client, lines: Iterable[bytes]) -> str:
    """The id of a file with these lines. Nothing is run by it. Raises a GatewayError."""
    sent = await client.upload("/files", {"purpose": "batch"}, b"".join(lines), FILES)
    file_id = sent.get("id") if isinstance(sent, dict) else None
    if not isinstance(file_id, str) or not file_id:
        raise BadAnswer("The provider took the file of a batch, but gave it no id.")
    return file_id


async def create(client: Client, file_id: str, name: str) -> RemoteBatch:
    """A new batch of an uploaded file. name: kept in its metadata, so that `find` finds it. Raises a GatewayError."""
    order = {"input_file_id": file_id, "endpoint": "/v1/chat/completions", "completion_window": WINDOW}
    return _read(client, await client.post("/batches", {**order, "metadata": {"arena_lab": name}}))


async def find(client: Client, name: str) -> RemoteBatch | None:
    """The batch that was created with this name, among the newest thousand. Raises a GatewayError."""
    after = ""
    for _page in range(MOST_PAGES):
        listed = await client.fetch(f"/batches?limit={PER_PAGE}{after}")
        rows = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(rows, list):
            raise BadAnswer("The provider gave no list of batches.")
        for row in rows:
            metadata = row.get("metadata") if isinstance(row, dict) else None
            if isinstance(metadata, dict) and metadata.get("arena_lab") == name:
                return _read(client, row)
        last = rows[-1].get("id") if rows and isinstance(rows[-1], dict) else None
        if not listed.get("has_more") or not isinstance(last, str):
            return None
        after = f"&after={quote(last, safe='')}"
    return None


async def look(client: Client, remote_id: str) -> RemoteBatch:
    """How far a batch is. Raises a GatewayError."""
    return _read(client, await client.fetch(f"/batches/{quote(remote_id, safe='')}"))


async def answers(client: Client, batch: RemoteBatch) -> dict[str, str]:
    """The lines that came back, as JSON without the key, by their custom_id. Raises a GatewayError."""
    found: dict[str, str] = {}
    for file_id in batch.files:
        content = await client.download(f"/files/{quote(file_id, safe='')}/content", FILES)
        for line in content.split(b"\n"):
            parsed = _parsed(line)
            if parsed and isinstance(parsed.get("custom_id"), str):
                found[parsed["custom_id"]] = client.redacted(json.dumps(parsed))
    return found


def completion_of(answer: str, request: ChatRequest) -> Completion:
    """What came back for one request, of its line. Raises a GatewayError, as a call of its own would."""
    line, origin = _parsed(answer) or {}, Origin(url="a batch", model=request.model)
    error, response = line.get("error"), line.get("response")
    if isinstance(error, dict) and error.get("code") in NOT_RUN:
        raise BatchExpired(UNRUN)
    if isinstance(response, dict):
        body, status = response.get("body"), response.get("status_code")
        if isinstance(status, int) and not 200 <= status < 300:
            raise classify(status, {}, json.dumps(body).encode(), now=datetime.now(UTC), origin=origin)
        read = Answer(request, origin)
        read.feed(json.dumps(body).encode())
        read.finish()
        return read.result()
    if found := read_error({"error": error}):
        raise classify_event(found, origin=origin)
    raise BadAnswer("The provider's batch has a line with neither an answer nor an error.")


def missing(batch: RemoteBatch) -> GatewayError:
    """Of a request whose line is in neither file of a batch that has ended."""
    if batch.problem is not None:
        return batch.problem
    if batch.is_complete:
        return OutcomeUnknown("The batch ended without a line for this request: whether it was billed is not known.")
    return BatchExpired(UNRUN)


def _read(client: Client, told: object) -> RemoteBatch:
    """Raises BadAnswer for what is no batch."""
    raw = _parsed(client.redacted(json.dumps(told))) or {}
    if not isinstance(raw.get("id"), str) or not isinstance(raw.get("status"), str):
        raise BadAnswer("The provider gave something that is no batch.")
    stage = STAGES.get(raw["status"], "going")
    counts = raw.get("request_counts")
    counted = {name: value for name, value in (counts if isinstance(counts, dict) else {}).items() if _is_count(value)}
    files = (raw.get("output_file_id"), raw.get("error_file_id"))
    return RemoteBatch(
        id=raw["id"],
        stage=stage,
        is_complete=raw["status"] == "completed",
        done=counted.get("completed", 0) + counted.get("failed", 0),
        total=counted.get("total", 0),
        files=tuple(one for one in files if isinstance(one, str) and one),
        problem=_problem(raw) if stage == "failed" else None,
    )


def _problem(raw: Mapping[str, Any]) -> GatewayError:
    """Why a batch was not taken: the first of its errors."""
    errors = raw.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    first = listed[0] if isinstance(listed, list) and listed else None
    if found := read_error({"error": first}):
        error = classify_event(found, origin=Origin(url="a batch"))
        return (
            error if isinstance(error, NeedsPerson | RateLimited) else BatchExpired(f"{error} Nothing of it was run.")
        )
    return BatchExpired("The provider did not take the batch, without a word of explanation. Nothing of it was run.")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _parsed(line: bytes | str) -> dict[str, Any] | None:
    """The JSON object, if it is one that can be written, too: what is nested too deeply cannot."""
    try:
        value = json.loads(line)
        json.dumps(value)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
