"""The command `arena`."""

import sys
from collections.abc import Sequence

from rich.console import Console

from arena_lab.cli import codes
from arena_lab.cli.parser import parser
from arena_lab.cli.words import plain
from arena_lab.errors import ArenaError, NotSetUp, SignInNeeded, Unreachable


def main(arguments: Sequence[str] | None = None) -> int:
    asked = parser().parse_args(arguments)
    try:
        return int(asked.do(asked))
    except KeyboardInterrupt:
        return codes.DETACHED
    except BrokenPipeError:  # whoever reads has read enough
        sys.stderr.close()
        return codes.DONE
    except (ArenaError, OSError) as error:
        Console(stderr=True, highlight=False).print(plain(str(error)), style="red", markup=False)
        return _code(error)


def _code(error: Exception) -> int:
    if isinstance(error, SignInNeeded | NotSetUp):
        return codes.NO_TOKEN
    return codes.UNREACHABLE if isinstance(error, Unreachable) else codes.REFUSED
