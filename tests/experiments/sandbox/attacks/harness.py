"""They lie to the harness that runs them: by its channel, by what it imports, by what it knows."""

import builtins
import json
import os
import re
import sys
import time

CLAIMS = (
    {"value": True, "verdict": "passed", "passed": True, "ok": True, "status": "pass", "success": True},
    {"results": [{"name": "attacked", "verdict": "passed"}], "passed": 1, "failed": 0, "total": 1},
    {"id": 1, "result": "passed", "expected": "x", "actual": "x", "test": "attacked"},
    ["ok", True],
    True,
    "passed",
)
NEXT_ANSWER = re.compile(rb"(answer-[0-9a-f]{32})|(owt)")


def channel_closed(host):
    """Closes every descriptor, the one for its own result too."""
    os.closerange(0, 256)


def write_to(numbers, *texts):
    """Each of them to every one of these descriptors that is open."""
    for number in numbers:
        for text in texts:
            try:
                os.write(number, text)
            except OSError:
                break


def channel_flooded(host):
    """Writes a gigabyte to each descriptor that is not for printing."""
    write_to(range(3, 256), *[b"9" * (1 << 20)] * 1024)


def channel_forged(host):
    """Writes results like those of harnesses it has read of to every open descriptor, and ends with success."""
    write_to(range(256), "".join(json.dumps(claim) + "\n" for claim in CLAIMS).encode())
    os._exit(0)


def channel_half(host):
    """Writes the beginning of a result to every descriptor, and leaves the reader waiting for its end."""
    write_to(range(3, 256), b'{"value": "')
    time.sleep(600)


def hunted_input(host):
    """Reads on where its own arguments ended: perhaps the next tests, and what they expect, have been sent too."""
    seen = sys.stdin.buffer.read() if sys.stdin else b""
    for number in range(16):
        try:
            os.set_blocking(number, False)
            seen += os.read(number, 1 << 20)
        except OSError:
            continue
    found = NEXT_ANSWER.search(seen)
    return found.group().decode() if found else "nothing found"


def patched_exit(host):
    """Takes away the ways to end and to flush, and the names that everything needs."""
    os._exit = sys.exit = lambda *_: None
    sys.stdout.close()
    for name in ("print", "BaseException", "Exception", "__import__", "open", "len"):
        delattr(builtins, name)


def patched_harness(host):
    """Replaces every function of every module that no library brought, among them those that run it."""
    for module in list(sys.modules.values()):
        if getattr(module, "__spec__", None) is None or not (
            getattr(module, "__file__", None) or "/usr/"
        ).startswith(("/usr", sys.base_prefix)):
            for name, value in list(vars(module).items()):
                if callable(value) and name != "solve" and not name.startswith("__"):
                    setattr(module, name, lambda *_, **__: True)
    return "wrong"
