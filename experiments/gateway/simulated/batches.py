"""Files and batches of the simulated provider, as OpenAI has them: kept in memory, done after a number of seconds."""

import hashlib
import json
import time
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from itertools import count
from typing import Any, Final
from urllib.parse import parse_qs

from experiments.gateway.simulated import stream
from experiments.gateway.simulated.answers import answer_to
from experiments.gateway.simulated.models import Refused
from experiments.gateway.simulated.request import read_request
from experiments.gateway.simulated.stream import Ledger, Message, Reply

SECONDS: Final = 30.0
# What becomes of a line whose model fails in these ways: it is missing, or was not come to.
UNANSWERED: Final = {"cut": "lost", "reset": "lost", "stall": "expired", "silent": "expired"}


@dataclass(slots=True)
class Batch:
    """files: of answers and of errors, once it is done; None before."""

    id: str
    input: str
    metadata: dict[str, object]
    created: float
    files: dict[str, str] | None = None
    is_expired: bool = False


@dataclass(slots=True)
class Batches:
    """seconds: from the creation of a batch to its end."""

    seconds: float = SECONDS
    files: dict[str, bytes] = field(default_factory=dict)
    made: dict[str, Batch] = field(default_factory=dict)
    _numbers: Any = field(default_factory=lambda: count(1))

    def answer(self, scope: Message, raw: bytes, ledger: Ledger) -> tuple[int, Any]:
        """Status and body of what is asked below /files and /batches: JSON, or bytes. 404 for anything else."""
        path = scope["path"].rstrip("/").removeprefix("/v1").strip("/").split("/")
        match scope["method"], *path:
            case "POST", "files":
                return self._stored(scope, raw)
            case "GET", "files", name, "content" if name in self.files:
                return 200, self.files[name]
            case "POST", "batches":
                return self._created(raw)
            case "GET", "batches":
                return 200, self._page(parse_qs(scope.get("query_string", b"").decode()), ledger)
            case "GET", "batches", name if name in self.made:
                return 200, self._told(self.made[name], ledger)
        return 404, {"error": {"message": "No such file or batch (simulated).", "code": 404}}

    def _stored(self, scope: Message, raw: bytes) -> tuple[int, Any]:
        kind = dict(scope["headers"]).get(b"content-type", b"")
        form = message_from_bytes(b"Content-Type: " + kind + b"\r\n\r\n" + raw, policy=policy.HTTP)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        fields: dict[Any, Any] = {name: part.get_payload(decode=True) for name, part in parts.items()}
        if "file" not in fields or fields.get("purpose") != b"batch":
            return 400, {"error": {"message": "A file and the purpose “batch” are needed (simulated).", "code": 400}}
        return 200, {"id": self._file(fields["file"]), "object": "file", "purpose": "batch"}

    def _created(self, raw: bytes) -> tuple[int, Any]:
        order = json.loads(raw)
        if order.get("input_file_id") not in self.files or order.get("endpoint") != "/v1/chat/completions":
            return 400, {"error": {"message": "There is no such file or endpoint (simulated).", "code": 400}}
        name = f"batch_sim_{next(self._numbers)}"
        self.made[name] = Batch(name, order["input_file_id"], order.get("metadata") or {}, time.time())
        return 200, self._told(self.made[name], Ledger())

    def _page(self, query: dict[str, list[str]], ledger: Ledger) -> dict[str, object]:
        """The newest first."""
        names, limit = list(reversed(self.made)), int(query.get("limit", ["20"])[0])
        first = names.index(query["after"][0]) + 1 if query.get("after", [""])[0] in self.made else 0
        shown = names[first : first + limit]
        listed = [self._told(self.made[name], ledger) for name in shown]
        return {"object": "list", "data": listed, "has_more": first + limit < len(names)}

    def _told(self, batch: Batch, ledger: Ledger) -> dict[str, object]:
        lines = [json.loads(line) for line in self.files[batch.input].splitlines()]
        passed = time.time() - batch.created
        if passed >= self.seconds and batch.files is None:
            self._run(batch, lines, ledger)
        status = "in_progress" if batch.files is None else "expired" if batch.is_expired else "completed"
        share = min(1.0, passed / self.seconds) if self.seconds else 1.0
        counts = {"total": len(lines), "completed": int(share * len(lines)), "failed": 0}
        rest = {"created_at": int(batch.created), "metadata": batch.metadata, "request_counts": counts}
        return {"id": batch.id, "object": "batch", "status": status, **rest, **(batch.files or {})}

    def _run(self, batch: Batch, lines: list[dict[str, Any]], ledger: Ledger) -> None:
        answered, failed = list[dict[str, Any]](), list[dict[str, Any]]()
        for line in lines:
            response, code = _answered(line, ledger)
            if code == "expired":
                batch.is_expired = True
                failed.append({**_named(line), "response": None, "error": {"code": "batch_expired", "message": "–"}})
            elif response:
                into = answered if response["status_code"] == 200 else failed
                into.append({**_named(line), "response": response, "error": None})
        made = {"output_file_id": answered, "error_file_id": failed}
        batch.files = {name: self._file(_lines(several)) for name, several in made.items() if several}

    def _file(self, content: bytes) -> str:
        name = f"file-sim-{next(self._numbers)}"
        self.files[name] = content
        return name


def _answered(line: dict[str, Any], ledger: Ledger) -> tuple[dict[str, Any] | None, str]:
    """The response to a line; or None, with whether it is `lost` or `expired`."""
    raw = json.dumps(line["body"], sort_keys=True).encode()
    entry = ledger.open(line["custom_id"], hashlib.sha256(raw).hexdigest())
    try:
        request = read_request(raw)
    except Refused as error:
        ledger.close(entry, f"failed_{error.status}")
        return _response(error.status, {"error": {"message": str(error), "code": error.status}}), ""
    entry.model, behaviour, fail = request.model, request.behaviour, ""
    if behaviour.fail and ledger.may_fail(entry.body_sha256, behaviour.times):
        fail = behaviour.fail
    if fail in UNANSWERED:
        ledger.close(entry, UNANSWERED[fail])
        return None, UNANSWERED[fail]
    if fail.isdigit():
        ledger.close(entry, f"failed_{fail}")
        return _response(int(fail), {"error": {"message": "Failed (simulated).", "code": int(fail)}}), ""
    reply = Reply("") if fail == "empty" else answer_to(request)
    reply = reply.limited(behaviour.after if fail == "length" else request.max_tokens)
    entry.tokens_sent = reply.token_count
    ledger.close(entry, "finished")
    return _response(200, stream.whole_body(request, reply, is_batched=True)), ""


def _response(status: int, body: object) -> dict[str, Any]:
    return {"status_code": status, "body": body}


def _named(line: dict[str, Any]) -> dict[str, object]:
    return {"id": f"batch_req_{line['custom_id']}", "custom_id": line["custom_id"]}


def _lines(values: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)
