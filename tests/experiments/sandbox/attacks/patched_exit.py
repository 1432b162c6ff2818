"""Takes away the ways to end and to flush, and the names that everything needs."""

import builtins
import os
import sys


def solve(word, host):
    if word == "attack":
        os._exit = sys.exit = lambda *_: None
        sys.stdout.close()
        for name in ("print", "BaseException", "Exception", "__import__", "open", "len"):
            delattr(builtins, name)
    return word[::-1]
