"""The program that runs in the box, as bytes that go to its stdin before the request: no file of ours is in any box.

Compiled once by us where the box's Python is ours, because compiling it there would cost every test 40 milliseconds.
"""

import marshal
from functools import cache
from pathlib import Path

from experiments.sandbox.inside import boot

FOLDER = Path(boot.__file__).parent
# Each after those that it imports.
ORDER = (
    *("kernel", "frames", "landlock", "allowed", "seccomp", "confinement", "unsharing"),
    *("encoding", "finding", "harness", "boot"),
)
LENGTH = 8  # bytes that say how long the program is

START = f"""
import marshal, os, sys
def read(length):
    parts = b""
    while len(parts) < length and (part := os.read(0, length - len(parts))):
        parts += part
    return parts
inside = sys.modules["inside"] = type(sys)("inside")
inside.__path__ = []
for name, code in marshal.loads(read(int.from_bytes(read({LENGTH}), "little"))):
    module = sys.modules["inside." + name] = type(sys)("inside." + name)
    module.__package__, module.__file__ = "inside", "inside/" + name + ".py"
    exec(code, module.__dict__)
    setattr(inside, name, module)
inside.boot.main()
"""


@cache
def program(is_compiled: bool) -> bytes:
    """For `START` on stdin: compiled, or as text for a Python of another version."""
    parts = [(name, compiled(name) if is_compiled else source(name)) for name in ORDER]
    body = marshal.dumps(parts) if is_compiled else marshal.dumps(parts, 2)
    return len(body).to_bytes(LENGTH, "little") + body


def source(name: str) -> str:
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def compiled(name: str) -> object:
    return compile(source(name), f"inside/{name}.py", "exec", dont_inherit=True, optimize=2)
