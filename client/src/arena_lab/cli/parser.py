"""What may be typed."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter, _SubParsersAction
from collections.abc import Callable
from typing import Any, TypeAlias

from arena_lab.cli import commands, lists, playing
from arena_lab.cli.starting import WORKFLOWS
from arena_lab.version import VERSION

EPILOG = """\
first:
  arena login                           says once where the platform is, and who asks
  arena models                          whom one can ask
  arena run arena --model A=sim/cooperative --model B=sim/competitive \\
        --prompt "Share seven panels." --turns 2 --watch

ends with:
  0 done   1 refused   2 mistyped   3 not reached   4 no token
  with --watch and watch: 5 the run failed   6 it was stopped   7 it waits (--until-pause)   130 detached: it goes on
"""

Parsers: TypeAlias = "_SubParsersAction[ArgumentParser]"


def parser() -> ArgumentParser:
    root = ArgumentParser("arena", description="Arena Lab at the command line.", epilog=EPILOG)
    root.formatter_class = RawDescriptionHelpFormatter
    root.add_argument("--version", action="version", version=f"arena {VERSION}")
    root.add_argument("--url", help="where the platform is (else ARENA_URL, else what `arena login` has stored)")
    named = root.add_subparsers(metavar="COMMAND", required=True)
    _signing_in(named)
    _run(named)
    _of_runs(named)
    _lists(named)
    return root


def _command(named: Parsers, name: str, do: Callable[..., int], help_: str) -> ArgumentParser:
    found = named.add_parser(name, help=help_, description=f"{help_[0].upper()}{help_[1:]}.")
    found.set_defaults(do=do)
    return found


def _listed(named: Parsers, name: str, do: Callable[..., int], help_: str) -> ArgumentParser:
    found = _command(named, name, do, help_)
    found.add_argument("--json", action="store_true", help="as JSON, for other programs")
    return found


def _signing_in(named: Parsers) -> None:
    login = _command(named, "login", commands.login, "store the address and a token, for you alone to read")
    login.add_argument("address", nargs="?", metavar="URL", help="where the platform is")
    login.add_argument("--token-stdin", action="store_true", help="read the token from standard input")
    _command(named, "logout", commands.logout, "forget the address and the token")


def _run(named: Parsers) -> None:
    run = _listed(named, "run", playing.run, "set up an experiment and start it")
    run.add_argument("workflow", choices=WORKFLOWS)
    run.add_argument("--model", action="append", default=[], metavar="[SEAT=]MODEL", help="who takes part (repeat)")
    run.add_argument("--prompt", metavar="TEXT", help="what it is about; @FILE reads a file, - standard input")
    run.add_argument("--turns", type=int, metavar="N", help="turns, rounds of a debate, cycles of coding")
    run.add_argument("--dataset", metavar="SLUG", help="for battles: whose outputs are compared")
    run.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any other setting (repeat)")
    run.add_argument("--param", action="append", default=[], metavar="SEAT.NAME=VALUE", help="of a model (repeat)")
    run.add_argument("--config", metavar="FILE", help="title, config and cast from a .json or .toml file")
    run.add_argument("--title", default="", help="how it is called in lists")
    run.add_argument("--project", default="", metavar="ID", help="whose members may see it")
    run.add_argument("--repeats", type=int, default=1, metavar="N", help="so many runs, with successive seeds")
    run.add_argument("--seed", type=int, metavar="N", help="of the first run")
    run.add_argument("--watch", action="store_true", help="stay and see what is said; Ctrl+C leaves, the run goes on")
    _watching(run)


def _of_runs(named: Parsers) -> None:
    _run_of(_listed(named, "show", lists.show, "a run as it is now")).add_argument(
        "--messages", action="store_true", help="and what was said"
    )
    watch = _run_of(_command(named, "watch", playing.watch, "see what is said in a run, from its beginning"))
    watch.add_argument("--after", type=int, default=0, metavar="SEQ", help="only what came after this event")
    watch.add_argument("--json", action="store_true", help="events as JSON, one a line")
    _watching(watch)
    say = _run_of(_command(named, "say", commands.say, "answer a run that waits for you"))
    say.add_argument("text", nargs="?", default="", help="your words, where the action takes some")
    say.add_argument("--action", help="what is done with them (default: send, or the default of the pause)")
    say.add_argument("--key", help="the pause that is meant (default: the one that is open)")
    for name, help_ in (
        ("stop", "stop a run; what was said is kept"),
        ("pause", "let the calls under way end, and begin nothing more"),
        ("resume", "go on with a run that was paused or has failed"),
    ):
        _run_of(_command(named, name, commands.steer, help_)).set_defaults(verb=name)
    _file(
        _run_of(_command(named, "export", commands.export, "a run for other programs")),
        ("jsonl", "csv", "inspect", "eval"),
    )
    _file(_run_of(_command(named, "report", commands.report, "a run to be read")), ("html", "pdf", "md", "json"))


def _lists(named: Parsers) -> None:
    models = _listed(named, "models", lists.models, "the models that you can ask")
    models.add_argument("--all", action="store_true", help="also those that you cannot ask now")
    runs = _listed(named, "runs", lists.runs, "the runs that you may see, the newest first")
    runs.add_argument("--workflow", choices=WORKFLOWS)
    runs.add_argument("--state", help="queued, running, waiting, stopping, stopped, completed or failed")
    runs.add_argument("--search", metavar="TEXT", help="in titles")
    runs.add_argument("--limit", type=int, default=20, metavar="N", help="how many at most (default: 20)")
    _listed(named, "datasets", lists.datasets, "the datasets that you may see")
    _listed(named, "ladders", lists.ladders, "the ladders that you may see")
    ladder = _listed(named, "ladder", lists.ladder, "who stands where")
    ladder.add_argument("slug", help="as `arena ladders` has it")
    ladder.add_argument("--subset", help="only battles on this subset")
    _listed(named, "budget", lists.budget, "what may still be spent")
    usage = _listed(named, "usage", lists.usage, "what was spent")
    usage.add_argument("--by", choices=("person", "project", "model", "role", "day"), default="model")
    usage.add_argument("--scope", choices=("me", "lab"), help="whose (default: yours)")
    usage.add_argument("--since", metavar="DAY", help="from this day on, as 2026-02-28")
    usage.add_argument("--until", metavar="DAY", help="to this day")


def _run_of(found: ArgumentParser) -> ArgumentParser:
    found.add_argument("run", metavar="RUN", help="the run's id, or `last` for the newest one")
    return found


def _watching(found: ArgumentParser) -> None:
    found.add_argument(
        "--until-pause", action="store_true", help="leave as soon as the run waits for you (ends with 7)"
    )


def _file(found: ArgumentParser, formats: tuple[str, ...]) -> Any:
    found.add_argument("--format", choices=formats, default=formats[0])
    found.add_argument("-o", "--output", default=".", metavar="PATH", help="a file or a folder; - for standard output")
