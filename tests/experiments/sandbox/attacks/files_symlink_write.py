"""Writes into the folder outside through a symbolic link inside."""

import os


def solve(word, host):
    if word == "attack":
        inside = f"/tmp/{host['marker']}"
        try:
            os.symlink(host["folder"], inside)
            with open(f"{inside}/new", "w") as outside:
                return f"wrote {outside.write('evil')} letters"
        except OSError:
            pass
    return word[::-1]
