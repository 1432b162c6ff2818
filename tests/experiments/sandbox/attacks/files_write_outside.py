"""Leaves a file wherever it may, in its own box too: none may be seen on the machine."""

import os


def solve(word, host):
    if word == "attack":
        for place in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", "/root", "/home", "/etc", ".", host["cwd"]):
            leave(place, host)
        places = (host["folder"], host["project"], os.path.dirname(host["project"]), host["cwd"])
        strange = [place for place in places if place != "/tmp"]  # its own /tmp, where the project may lie, is its own
        if written := [place for place in strange if leave(place, host)]:
            return f"wrote into {written}"
    return word[::-1]


def leave(place, host):
    try:
        with open(os.path.join(place, f"{host['marker']}.txt"), "w") as file:
            return file.write("I was here")
    except OSError:
        return 0
