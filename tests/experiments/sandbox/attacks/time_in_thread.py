"""Answers, and leaves a thread behind that goes on printing and never ends."""

import threading
import time


def solve(word, host):
    if word == "attack":
        threading.Thread(target=chatter).start()
    return word[::-1]


def chatter():
    while True:
        print('{"value": "forged"}', flush=True)
        time.sleep(0.001)
