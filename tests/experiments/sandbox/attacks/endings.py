"""They end in another way than by an answer, never end, or print what no text is."""

import atexit
import ctypes
import faulthandler
import os
import sys
import threading
import time


def exit_faulthandler(host):
    """Has the interpreter write its frames into every descriptor, and end itself a moment later."""
    for number in range(3, 256):
        try:
            faulthandler.enable(file=number)
            faulthandler.dump_traceback(file=number)
        except (OSError, ValueError, RuntimeError):
            continue
    faulthandler.dump_traceback_later(0.05, exit=True)
    time.sleep(600)


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
