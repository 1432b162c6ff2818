"""Commands that show what there is: as tables, or as JSON."""

from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena_lab.cli import codes
from arena_lab.cli.commands import arena_of, run_of
from arena_lab.cli.words import money, plain, write_json
from arena_lab.records import Budget, LadderEntry, Message, Model, Part, Record, Run, Spent, Standing
from arena_lab.records import Dataset as DatasetRecord

R = TypeVar("R", bound=Record)


def models(asked: Namespace) -> int:
    def row(model: Model) -> list[str]:
        note = "simulated" if model.simulated else ""
        return [model.slug, model.label, model.provider, note if model.available else "not available"]

    with arena_of(asked) as arena:
        found = arena.models(available=None if asked.all else True)
        return _shown(asked, found, ["model", "name", "provider", ""], row)


def runs(asked: Namespace) -> int:
    def row(run: Run) -> list[str]:
        return [
            run.id,
            run.workflow,
            run.state,
            str(run.turn),
            money(run.cost),
            f"{run.created:%m-%d %H:%M}",
            run.title,
        ]

    with arena_of(asked) as arena:
        found = arena.runs.list(workflow=asked.workflow, state=asked.state, search=asked.search)
        return _shown(
            asked, islice(found, asked.limit), ["run", "workflow", "state", "turn", "cost", "created", "title"], row
        )


def show(asked: Namespace) -> int:
    with arena_of(asked) as arena:
        run = arena.runs.get(run_of(arena, asked))
        said = arena.runs.messages(run).all() if asked.messages else []
        if asked.json:
            write_json([run, *said] if asked.messages else run)
            return codes.DONE
        _print_table([], [[name, text] for name, text in run.facts().items()])
        for message in said:
            print_message(Console(highlight=False, soft_wrap=True), message)
    return codes.DONE


def print_message(console: Console, message: Message) -> None:
    head = f"{message.seat} · {message.model}" if message.model else message.seat
    console.print(Text(f"\n{plain(head)}", style="bold"))
    console.print(Text(plain(message.text)))


def datasets(asked: Namespace) -> int:
    def row(one: DatasetRecord) -> list[str]:
        return [one.slug, one.name, one.modality, one.visibility, one.state]

    with arena_of(asked) as arena:
        return _shown(asked, arena.datasets.list(), ["dataset", "name", "kind", "seen by", "state"], row)


def ladders(asked: Namespace) -> int:
    def row(one: LadderEntry) -> list[str]:
        return [one.slug, one.title, one.workflow, f"{one.battles:,}"]

    with arena_of(asked) as arena:
        return _shown(asked, arena.ladders.list(), ["ladder", "title", "workflow", "battles"], row)


def ladder(asked: Namespace) -> int:
    def row(one: Standing) -> list[str]:
        rated = one.rating is not None and one.lower is not None and one.upper is not None
        interval = f"{one.lower:.0f} – {one.upper:.0f}" if rated else one.reason
        bound = f"> {one.lower:.0f}" if one.lower is not None else "–" if one.upper is None else f"< {one.upper:.0f}"
        rating = bound if one.rating is None else f"{one.rating:.0f}"
        rank = "–" if one.best is None else str(one.best) if one.best == one.worst else f"{one.best}–{one.worst}"
        return [rank, one.label or one.name, rating, interval, f"{one.battles:,}"]

    with arena_of(asked) as arena:
        found = arena.ladders.get(asked.slug, subset=asked.subset)
        if asked.json:
            write_json(found)
            return codes.DONE
        if found.withdrawn_reason:
            Console(stderr=True, highlight=False).print(f"Withdrawn: {plain(found.withdrawn_reason)}", markup=False)
        return _shown(asked, found.rows, ["", "who", "rating", "95 % interval", "battles"], row)


def budget(asked: Namespace) -> int:
    def left(part: Part | None, sign: str) -> str:
        return "no limit" if part is None else f"{sign}{part.left:,f} of {sign}{part.limit:,f}"

    def row(one: Budget) -> list[str]:
        resets = f"{one.resets:%Y-%m-%d}" if one.resets else "never"
        return [one.kind, one.subject, one.period, left(one.cost, "$"), left(one.tokens, ""), resets]

    with arena_of(asked) as arena:
        heads = ["of", "", "period", "dollars left", "tokens left", "resets"]
        return _shown(asked, arena.budgets(), heads, row, none="No budget limits you.")


def usage(asked: Namespace) -> int:
    def row(one: Spent) -> list[str]:
        least = "at least " if one.unpriced else ""
        return [
            one.value or "–",
            f"{one.calls:,}",
            f"{one.input_tokens:,}",
            f"{one.output_tokens:,}",
            least + money(one.cost),
        ]

    with arena_of(asked) as arena:
        found = arena.usage(scope=asked.scope, since=asked.since, until=asked.until)
        if asked.json:
            write_json(found)
            return codes.DONE
        rows = [*(row(one) for one in getattr(found, asked.by)), ["all", *row(found.total)[1:]]]
        _print_table([asked.by, "calls", "tokens in", "tokens out", "cost"], rows)
        return codes.DONE


def _shown(
    asked: Namespace,
    found: Iterable[R],
    heads: Sequence[str],
    row: Callable[[R], list[str]],
    none: str = "There is nothing here.",
) -> int:
    if asked.json:
        write_json(found)
    elif rows := [row(one) for one in found]:
        _print_table(heads, rows)
    else:
        Console(stderr=True, highlight=False).print(none)
    return codes.DONE


def _print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """On a terminal long cells are folded, but for the first ones, which are copied; a program gets all in one line."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=10_000)
    table = Table(box=None, pad_edge=False, show_header=bool(heads))
    for number, head in enumerate(heads or ("", "")):
        table.add_column(head, header_style="bold", no_wrap=not (console.is_terminal and number), overflow="fold")
    for cells in rows:
        table.add_row(*(Text(plain(cell)) for cell in cells))
    console.print(table)
