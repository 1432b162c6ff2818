"""Works with files, which only have to last for one test."""

import json
import os
import tempfile


def squares(numbers):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "squares.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({number: number * number for number in numbers}, file)
        with open(path, encoding="utf-8") as file:
            return json.load(file)
