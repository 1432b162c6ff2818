"""Runs one program on one test's arguments, in the box's last process, and writes one line on the result channel.

Nothing here is out of the program's reach once it runs: what arrives at the parent is a claim, which the parent
compares with what only it knows.
"""

import _symtable  # type: ignore[import-not-found]  # has no stub; `symtable` would import more
import os
import sys
from _json import encode_basestring_ascii as quoted
from builtins import (  # noqa: UP029 — held from before the program can change them
    BaseException,
    MemoryError,
    RuntimeError,
    SyntaxError,
    SystemExit,
    __import__,
    any,
    bytearray,
    callable,
    compile,
    dict,
    exec,
    getattr,
    hasattr,
    isinstance,
    issubclass,
    len,
    open,
    str,
    type,
)

from . import frames
from .encoding import Encoder, NotJSON, name_of

TYPE_CHECKING = False  # importing `typing` would cost every test its milliseconds
if TYPE_CHECKING:
    from typing import Any

FILENAME = "solution.py"
MODULE = "solution"
ERROR_LENGTH = 500
TRACEBACK_LENGTH = 10_000
RECURSION = 2_000
BOUND = _symtable.DEF_LOCAL | _symtable.DEF_IMPORT

show, leave, set_recursion = sys.__excepthook__, os._exit, sys.setrecursionlimit
write_all, make_module = frames.write_all, type(sys)


class NotCallable(Exception):
    """The name is there, but nothing that can be called; the message says so."""


def run(request: "dict[str, Any]", descriptor: int) -> None:
    """Never returns. The request holds code, entry, arguments, nonce and limits."""
    nonce = request["nonce"]
    kept = bytearray(1 << 16)  # given back when memory has run out, so that this can still be said
    try:
        kind, body = outcome(request)
    except MemoryError:
        del kept
        kind, body = "memory", "true"
    except BaseException as error:  # a program may raise anything
        report(error)
        kind, body = "error", quoted(last_line(error))
    for channel in (sys.stdout, sys.stderr):
        try:
            channel.flush()
        except BaseException:  # noqa: S112 — closed or replaced by the program, which is its own affair
            continue
    # The one line that is written: the nonce first, so that a line without it is nobody's.
    write_all(descriptor, f'{{"nonce":"{nonce}","{kind}":{body}}}\n'.encode("ascii"))
    leave(0)


def rehearse() -> None:
    """Does with a program of our own what every run does, so that the memory for it is there when a run begins."""
    source = "def solve(number):\n    return [{'twice': 2 * number}]\n"
    namespace: dict[str, Any] = {}
    exec(compile(source, FILENAME, "exec", dont_inherit=True), namespace)  # noqa: S102 — our own words
    is_named(source, FILENAME, "solve")
    Encoder(9, 9, 99).text(namespace["solve"](1))


def outcome(request: "dict[str, Any]") -> "tuple[str, str]":
    """The kind of the answer, and its JSON."""
    code, entry = str(request["code"]), str(request["entry"])
    try:
        compiled = compile(code, FILENAME, "exec", dont_inherit=True)
        is_function = is_named(code, FILENAME, entry)
    except SyntaxError as error:
        return "complaint", quoted(f"{type(error).__name__}: {error.msg} (line {error.lineno})")
    except BaseException as error:
        return "complaint", quoted(last_line(error))
    namespace = new_module(MODULE if is_function else "__main__")
    if is_function:
        exec(compiled, namespace)  # noqa: S102 — this is what the box is for
    else:
        run_script(compiled, namespace)
    found = entry_in(namespace, entry)
    if found is None and is_function:
        raise NotCallable(f"there is no function {entry}")
    if found is None:
        return "printed", "true"
    # The text on stdin is for scripts: a function that asks for input is told that there is none.
    empty, other_end = os.pipe()
    os.close(other_end)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 — it stays open for the program
    value = settled(found(*request["arguments"]))
    set_recursion(RECURSION)
    limits = request["limits"]
    return "value", Encoder(limits["depth"], limits["items"], limits["result"]).text(value)


def new_module(name: str) -> "dict[str, object]":
    """What a new module holds, for the program, under its name where dataclasses and pickle look for it."""
    module = make_module(name)
    module.__dict__["__file__"] = FILENAME
    sys.modules[name] = module
    if name != "__main__":
        sys.modules["__main__"] = make_module("__main__")
    return module.__dict__


def run_script(compiled: "Any", namespace: "dict[str, object]") -> None:
    """As Python runs a file, with the threads and the last wishes at its end."""
    try:
        exec(compiled, namespace)  # noqa: S102 — this is what the box is for
    except SystemExit as error:
        if error.code not in (None, 0):
            raise
    for name, ending in (("threading", "_shutdown"), ("atexit", "_run_exitfuncs")):
        if name in sys.modules:
            getattr(sys.modules[name], ending)()


def settled(value: object) -> object:
    """What an asynchronous function or generator comes to; anything else as it is."""
    kind = type(value)
    if hasattr(kind, "__await__"):
        return __import__("asyncio").run(awaited(value))
    if hasattr(kind, "__anext__"):
        return __import__("asyncio").run(collected(value))
    return value


async def awaited(value: object) -> object:
    return await value  # type: ignore[misc]  # whether it can be awaited was looked at


async def collected(value: object) -> "list[object]":
    return [item async for item in value]  # type: ignore[attr-defined]  # whether it can be awaited was looked at


def last_line(error: BaseException) -> str:
    """The last line of its traceback, cut."""
    kind, said = type(error), text_of(error)
    if issubclass(kind, (NotJSON, NotCallable)):
        return said
    return f"{name_of(kind)}: {said}"[:ERROR_LENGTH] if said else name_of(kind)


def text_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return "an error that cannot be shown"


def report(error: BaseException) -> None:
    """The traceback on the program's stderr, without the lines of this file; of an error with a long text its name."""
    if len(text_of(error)) > TRACEBACK_LENGTH:
        error = RuntimeError(last_line(error))
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    try:
        show(type(error), error.with_traceback(trace), trace)
    except BaseException:
        return


# --- where in a program the thing to call stands ---


def is_named(source: str, filename: str, entry: str) -> bool:
    """Whether the program's text binds the name at its top, or as a method of a class at its top."""
    top = _symtable.symtable(source, filename, "exec")
    classes = [table for table in top.children if table.type == _symtable.TYPE_CLASS]
    return any(table.symbols.get(entry, 0) & BOUND for table in [top, *classes])


def entry_in(namespace: "dict[str, object]", entry: str) -> "Any":
    """What is to be called, None when the name is nowhere. Raises NotCallable."""
    if entry in namespace:
        found = namespace[entry]
        if isinstance(found, type) and callable(getattr(found, entry, None)):
            return getattr(found(), entry)  # a class that is called like its method
        if not callable(found):
            raise NotCallable(f"{entry} is not a function")
        return found
    return method_in(namespace, entry)


def method_in(namespace: "dict[str, object]", entry: str) -> "Any":
    """The method of `Solution`, or of the one class that has it; of a class and those derived from it, of the last."""
    module = namespace["__name__"]
    mine = [value for value in namespace.values() if isinstance(value, type) and value.__module__ == module]
    owners = [kind for kind in dict.fromkeys(mine) if callable(getattr(kind, entry, None))]
    last = [kind for kind in owners if not any(other is not kind and issubclass(other, kind) for other in owners)]
    chosen = [kind for kind in owners if kind.__name__ == "Solution"] or last
    if len(chosen) > 1:
        raise NotCallable(f"{len(chosen)} classes have a method {entry}; call one of them Solution")
    return getattr(chosen[0](), entry) if chosen else None
