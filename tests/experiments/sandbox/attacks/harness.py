"""They lie to the harness that runs them: by its channel, by what it imports, by what it knows."""

import builtins
import gc
import importlib
import inspect
import io
import json
import json.encoder
import os
import re
import sys
import threading
import time
import traceback
import types

CLAIMS = (
    {"value": True, "verdict": "passed", "passed": True, "ok": True, "status": "pass", "success": True},
    {"results": [{"name": "attacked", "verdict": "passed"}], "passed": 1, "failed": 0, "total": 1},
    {"id": 1, "result": "passed", "expected": "x", "actual": "x", "test": "attacked"},
    ["ok", True],
    True,
    "passed",
)
BODIES = (b"passed", b'{"verdict": "passed", "value": true, "ok": true}', b'"passed"', b"true", b"1", b"")
ORDERS = ("little", "big")
NOISE = b"\xff\xfe\x00{]garbage\n" * 100
VALUES = (b"9" * 100_000, b"1e999999", b"-Infinity", b"NaN", b"1." + b"0" * 100_000)
ANSWER = re.compile("answer-[0-9a-f]{32}")
NEXT_ANSWER = re.compile(rb"(answer-[0-9a-f]{32})|(owt)")
SEEN = []


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


def channel_forged_one_each(host):
    """Writes a single forged result to the descriptors that are open, closes them and ends: nothing follows to spoil it."""
    write_to(range(3, 256), b'{"verdict": "passed", "value": null, "has_value": true, "passed": true}')
    os.closerange(3, 256)
    os._exit(0)


def channel_frames(host):
    """Speaks in frames of a letter, a length and a body: claims of every letter, and lengths that are never kept."""
    letters = [bytes([letter]) for letter in range(256)]
    frames = [one + len(body).to_bytes(4, order) + body for one in letters for body in BODIES for order in ORDERS]
    endless = [one + b"\xff" * 8 for one in (b"r", b"o", b"s", b"x")]
    write_to(range(64), b"".join([*frames, *endless]))
    os._exit(0)


def channel_garbage(host):
    """Writes noise to every open descriptor, and then answers with the truth."""
    for number in range(256):
        try:
            os.set_blocking(number, False)
        except OSError:
            continue
        write_to([number], NOISE)


def channel_half(host):
    """Writes the beginning of a result to every descriptor, and leaves the reader waiting for its end."""
    write_to(range(3, 256), b'{"value": "')
    time.sleep(600)


def channel_nested(host):
    """Sends a result that makes whoever reads it recurse: a hundred thousand lists in one another."""
    lists = b"[" * 100_000 + b"]" * 100_000
    write_to(range(3, 64), lists + b"\n", b'{"value": ' + lists + b"}\n")
    os._exit(0)


def channel_numbers(host):
    """Sends numbers that make whoever reads them fail or wait: a hundred thousand digits, and no numbers at all."""
    write_to(range(3, 64), *(value + b'\n{"value": ' + value + b"}\n" for value in VALUES))
    os._exit(0)


def channel_read_from(host):
    """Reads from the descriptors that are for writing, and so takes away what the parent waits for."""
    for number in range(64):
        threading.Thread(target=drink, args=(number,), daemon=True).start()


def drink(number):
    try:
        for name in (number, f"/proc/self/fd/{number}"):
            source = os.open(name, os.O_RDONLY) if isinstance(name, str) else name
            while os.read(source, 1 << 16):
                pass
    except OSError:
        pass


def channel_token_found(host):
    """Looks through the frames below for the token or the channel of the harness, and signs a forged result with it."""
    frame, found = sys._getframe(1), {}
    while frame:
        found |= {name: value for name, value in {**frame.f_globals, **frame.f_locals}.items() if is_plain(value)}
        frame = frame.f_back
    for name, value in found.items():
        for claim in ("passed", True, None):
            signed = {name: value, "token": value, "id": value, "nonce": value, "value": claim, "verdict": claim}
            numbers = [one for one in found.values() if type(one) is int and 0 <= one < 256]
            write_to((*range(3, 32), *numbers), json.dumps(signed).encode() + b"\n")
    os._exit(0)


def is_plain(value):
    return type(value) in (str, int, bytes) and len(str(value)) < 100 and type(value) is not bytes


def forged_all_passed(host):
    """Prints what a test runner prints when all is well, and ends with success."""
    print("ALL PASSED\n3 passed in 0.01s\nOK\n" + '{"passed": 3, "failed": 0}', flush=True)
    os._exit(0)


def hunted_frames(host):
    """Walks up the frames and looks for the expected value in all that they know."""
    frame = sys._getframe()
    while frame:
        for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
            for name, value in list(names.items()):
                if name in ("expected", "answer", "expected_output") or "Test" in type(value).__name__:
                    return value
                if found := ANSWER.search(repr(value)):
                    return found.group()
        frame = frame.f_back
    return "nothing found"


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


def hunted_modules(host):
    """Looks through the modules, with those that stand for the main program and the project, for tests."""
    for name in ("experiments.sandbox", "tests", "tests.experiments.sandbox.attack_list", "django.conf"):
        try:
            importlib.import_module(name)
            return f"imported {name}"
        except ImportError:
            continue
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if found := ANSWER.search(repr(value)):
                return found.group()
            if name in ("expected", "TESTS", "test_cases", "_test_cases"):
                return value
    return "nothing found"


def hunted_objects(host):
    """Looks through every object of the interpreter for the expected value."""
    for thing in gc.get_objects():
        for part in [thing, *gc.get_referents(thing)]:
            if type(part) in (str, bytes) and (found := ANSWER.search(str(part))):
                return found.group()
            if type(part) is dict and "expected" in part and "arguments" in part:
                return part["expected"]
    return "nothing found"


def hunted_tracing(host):
    """Watches every line that is run after it, and changes what the functions of the harness know."""
    sys.settrace(watch)
    sys.setprofile(watch)
    frame = sys._getframe()
    while frame:
        frame.f_trace = watch
        frame = frame.f_back
    return SEEN or "nothing found"


def watch(frame, event, argument):
    for name, value in list(frame.f_locals.items()):
        if ANSWER.search(repr(value)):
            SEEN.append(value)
            print(value, file=sys.__stderr__)
        if name in ("verdict", "value", "result", "passed"):
            frame.f_locals[name] = True
    return watch


def patched_builtins(host):
    """Replaces what a comparison or a check of types may be made of."""
    for name in ("isinstance", "issubclass", "callable", "hasattr", "all", "any", "bool"):
        setattr(builtins, name, lambda *_: True)
    builtins.len = lambda _: 0
    builtins.repr = builtins.str = builtins.ascii = lambda *_: "kcatta"
    builtins.type = lambda *_: None
    builtins.print = builtins.open = builtins.eval = builtins.exec = lambda *_, **__: None
    return "wrong"


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


def patched_inspect(host):
    """Replaces what could look at it: the module for it, and tracebacks."""
    for module in (inspect, traceback):
        for name in dir(module):
            if callable(getattr(module, name)) and not name.startswith("__"):
                setattr(module, name, lambda *_, **__: True)
    sys.excepthook = sys.unraisablehook = lambda *_: None
    raise ValueError("wrong")


def patched_json(host):
    """Replaces the functions that write results as JSON."""
    for place in (json, json.encoder):
        place.dumps = place.dump = lambda *_, **__: '{"verdict": "passed", "passed": true, "value": true}'
    json.JSONEncoder.encode = json.JSONEncoder.iterencode = lambda *_: '"passed"'
    json.encoder.c_make_encoder = None
    json.encoder.encode_basestring_ascii = lambda _: '"passed"'
    return "wrong"


class Agreeable(types.ModuleType):
    def __getattr__(self, name):
        return lambda *_, **__: True


def patched_modules(host):
    """Puts modules of its own in the place of all those that a harness may import later."""
    for name in ("json", "marshal", "pickle", "struct", "hmac", "hashlib", "base64", "resource", "io", "os", "ast"):
        sys.modules[name] = Agreeable(name)
    return "wrong"


class Liar(io.StringIO):
    def write(self, text):
        return super().write("passed")

    def getvalue(self):
        return '"passed"'


def patched_output(host):
    """Replaces the streams by objects that tell lies, and the calls below them."""
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Liar()
    write = os.write
    os.write = lambda number, text: write(number, b'{"verdict": "passed"}') and len(text)
    os.writev = os.sendfile = os.pwrite = os.fsync = lambda *_: 0
    return "wrong"
