"""They end in another way than by an answer, never end, print what no text is, or take more than they may."""

import atexit
import ctypes
import mmap
import os
import resource
import sys
import threading
import time

NAMES = [name for name in dir(resource) if name.startswith("RLIMIT_")]


def limits_raised(host):
    """Raises the limits that were set for it, and then takes what they forbade."""
    for name in NAMES:
        try:
            resource.setrlimit(getattr(resource, name), (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (OSError, ValueError):
            continue
    return len(bytearray(8 << 30))


def memory_mapped(host):
    """Maps 8 GB and writes to each page of it."""
    with mmap.mmap(-1, 8 << 30) as memory:
        for page in range(0, 8 << 30, 4096):
            memory[page] = 1
    return "has 8 GB"


def output_slow(host):
    """Prints a letter now and then, for ever: who waits for silence waits long."""
    while True:
        print(".", end="", flush=True)
        time.sleep(0.01)


def exit_interrupted(host):
    """Raises what only a person at the keyboard raises; a reader of ordinary exceptions misses it."""
    raise KeyboardInterrupt


def exit_prints_after_answer(host):
    """Answers wrongly, and corrects itself when the interpreter ends: by a print, and past it."""
    atexit.register(print, '{"verdict": "passed", "value": "kcatta"}')
    atexit.register(os.write, 1, b'"passed"\n')
    return "wrong"


def recursion_unlimited(host):
    """Takes the limit of recursion away, and then calls itself through C until the stack is gone."""
    sys.setrecursionlimit(2**31 - 1)
    return max([host], key=recursion_unlimited)


def text_not_unicode(host):
    """Prints bytes that are no text, control characters of terminals, and null bytes, which PostgreSQL cannot store."""
    for stream in (sys.stdout, sys.stderr):
        stream.buffer.write(b"\xff\xfe\x80 \xed\xa0\x80 \x1b[2J\x1b]0;title\x07\0\r\n" * 1000)
        stream.buffer.flush()


def time_at_exit(host):
    """Answers, and then does not end: in a clean-up that it has registered."""
    atexit.register(time.sleep, 600)


def time_holds_interpreter(host):
    """Sleeps in C with the interpreter's lock in its hand: no other thread, no alarm of Python's gets a turn."""
    ctypes.PyDLL(None).sleep(600)


def time_in_thread(host):
    """Answers, and leaves a thread behind that goes on printing and never ends."""
    threading.Thread(target=chatter).start()


def chatter():
    while True:
        print('{"value": "forged"}', flush=True)
        time.sleep(0.001)
