"""Plants code in the interpreter that the next program will be run with."""

import json
import os
import sys


def solve(word, host):
    if word == "attack":
        places = [os.path.dirname(os.__file__), os.path.dirname(json.__file__), sys.prefix, sys.base_prefix]
        places += ["/usr/lib/python3/dist-packages", "/usr/local/lib", "/usr/bin", *sys.path]
        for place in filter(os.path.isabs, places):
            try:
                with open(os.path.join(place, f"{host['marker']}.py"), "w") as file:
                    file.write("evil = True")
                return f"planted in {place}"
            except OSError:
                continue
    return word[::-1]
