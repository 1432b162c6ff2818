"""What a box is told: one program, one test's arguments, never an expected value."""

import json
import marshal
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.sandbox.backends.box import Box
from experiments.sandbox.limits import Limits
from experiments.sandbox.values import JSON

FORMAT = 2  # of marshal: every Python reads it
WANTED = ("landlock", "seccomp")


@dataclass(frozen=True, slots=True)
class Program:
    """What one solution is run as; the same for all its tests. `required` are layers without which it is not run."""

    code: str
    entry: str
    limits: Limits
    required: tuple[str, ...] = ()


def new_nonce() -> str:
    return secrets.token_hex(16)


def request(program: Program, arguments: Sequence[JSON], box: Box, nonce: str, seconds: float) -> bytes:
    """Raises ValueError for arguments that are not JSON."""
    try:
        document = json.dumps(list(arguments), allow_nan=False).encode()
        return marshal.dumps(told(program, arguments, box, nonce, seconds) | {"document": document}, FORMAT)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"arguments that are not JSON: {error}") from error


def told(program: Program, arguments: Sequence[JSON], box: Box, nonce: str, seconds: float) -> dict[str, object]:
    return {
        "wanted": list(WANTED),
        **box.request,
        "code": program.code,
        "entry": program.entry,
        "arguments": list(arguments),
        "nonce": nonce,
        "limits": program.limits.for_box(),
        "required": [name for name in program.required if name not in box.layers],
        "seconds": seconds,
    }
