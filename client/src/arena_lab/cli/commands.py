"""Signing in, steering runs, fetching files."""

import getpass
import sys
from argparse import Namespace

from rich.console import Console

from arena_lab import credentials
from arena_lab.cli import codes
from arena_lab.cli.words import plain
from arena_lab.client import Arena
from arena_lab.credentials import Credentials
from arena_lab.errors import NotSetUp
from arena_lab.files import File
from arena_lab.questions import open_pause
from arena_lab.records import Run
from arena_lab.retrying import Patience

SOMEBODY_WAITS = Patience(attempts=4)


def arena_of(asked: Namespace) -> Arena:
    return Arena(asked.url, patience=SOMEBODY_WAITS)


def run_of(arena: Arena, asked: Namespace) -> str:
    """`last` is the newest one of those that one may see. Raises NotSetUp when there is none."""
    if asked.run != "last":
        return str(asked.run)
    newest = arena.runs.list().first()
    if newest is None:
        raise NotSetUp("There is no run yet: `arena run` starts one.")
    return newest.id


def say_so(text: str) -> None:
    Console(highlight=False, soft_wrap=True).print(plain(text), markup=False)


def login(asked: Namespace) -> int:
    address = asked.address or asked.url or _typed("Where is the platform (https://…)? ")
    token = sys.stdin.readline() if asked.token_stdin else getpass.getpass(f"A token of {address}: ")
    given = Credentials(address.strip().rstrip("/"), token.strip())
    with Arena(given.url, given.token) as arena:
        arena.models(available=True).first()
    say_so(f"Stored in {credentials.store(given)}.")
    return codes.DONE


def _typed(question: str) -> str:
    if not sys.stdin.isatty():
        raise NotSetUp("Say where the platform is: arena login URL.")
    return input(question)


def logout(_asked: Namespace) -> int:
    say_so("Forgotten." if credentials.forget() else "Nothing was stored.")
    return codes.DONE


def say(asked: Namespace) -> int:
    with arena_of(asked) as arena:
        run = arena.runs.get(run_of(arena, asked))
        pause = open_pause(run)
        action = asked.action or ("send" if asked.text and "send" in pause.actions else pause.default or "send")
        told(arena.runs.say(run, asked.text, action=action, at=asked.key or pause.key))
    return codes.DONE


def steer(asked: Namespace) -> int:
    with arena_of(asked) as arena:
        told(getattr(arena.runs, asked.verb)(run_of(arena, asked)))
    return codes.DONE


def told(run: Run) -> None:
    say_so(f"{run.id} is {'paused' if run.is_held else run.state}.")


def export(asked: Namespace) -> int:
    with arena_of(asked) as arena:
        return _kept(arena.runs.export(run_of(arena, asked), asked.format), asked.output)


def report(asked: Namespace) -> int:
    with arena_of(asked) as arena:
        return _kept(arena.runs.report(run_of(arena, asked), asked.format), asked.output)


def _kept(file: File, place: str) -> int:
    if place == "-":
        sys.stdout.buffer.write(file.content)
        sys.stdout.buffer.flush()
    else:
        say_so(str(file.save(place)))
    return codes.DONE
