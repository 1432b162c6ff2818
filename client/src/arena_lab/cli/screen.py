"""What somebody sees who watches: what was said above, what is being said and the bar below."""

import time
from decimal import Decimal
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from arena_lab.cli.lists import print_message
from arena_lab.cli.words import money, plain
from arena_lab.client import Arena
from arena_lab.errors import ArenaError
from arena_lab.events import BallotRead, BattleJudged, CycleRated, Delta, Ended, Event, Executed, Judged, Said, Waiting
from arena_lab.records import Experiment, Message

TAIL_LINES = 8
TOTALS_SECONDS = 1.0
LONGEST_MACHINE_TEXT = 200


class Bar:
    """How far it is, what it has taken, and how long it will take still. Not drawn where nobody looks."""

    def __init__(self, unit: str, total: int | None = None) -> None:
        self.console = Console(highlight=False, soft_wrap=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[tokens]:,} tokens · {task.fields[cost]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
            auto_refresh=False,
        )
        self._unit = unit
        self._task = self._progress.add_task(unit, total=total, tokens=0, cost=money(None))
        self._words: list[Text] = []
        self._live = Live(console=self.console, get_renderable=self._drawn, refresh_per_second=8, transient=True)

    def set(self, done: int, tokens: int, cost: Decimal | int | None, *, total: int | None = None) -> None:
        if total is not None:
            self._progress.update(self._task, total=total)
        of = self._progress.tasks[0].total
        text = f"{self._unit} {done}" if of is None else f"{self._unit} {done}/{of:.0f}"
        shown = money(None if cost is None else Decimal(cost))
        self._progress.update(self._task, description=text, completed=done, tokens=tokens, cost=shown)

    def say_below(self, words: list[Text]) -> None:
        """What is being said just now, above the bar."""
        self._words = words

    def _drawn(self) -> Group:
        return Group(*self._words, self._progress)

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.console.is_terminal:
            self._live.stop()


class Screen(Bar):
    """One run."""

    def __init__(self, arena: Arena, run_id: str, experiment: Experiment) -> None:
        super().__init__("cycle" if experiment.workflow == "coding" else "turn", experiment.turns)
        self._arena, self._run_id = arena, run_id
        self._speaking: dict[str, tuple[str, str]] = {}
        self._looked = 0.0

    def show(self, item: Event | Delta) -> None:
        if isinstance(item, Delta):
            self._hear(item)
            return
        if isinstance(item, Said):
            self._speaking.pop(str(item.data.get("call")), None)
        self._print(item)
        self.say_below(self._tail())
        self._count(is_last=item.ends)

    def trouble(self, said: str, seconds: float) -> None:
        self._note(f"{said} Trying again in {seconds:.0f} s …", "yellow")

    def _hear(self, delta: Delta) -> None:
        """A piece that would leave a gap is passed over: the message brings all of it."""
        _seat, text = self._speaking.get(delta.call, ("", ""))
        if delta.offset <= len(text):
            self._speaking[delta.call] = (delta.seat, text[: delta.offset] + delta.text)
        self.say_below(self._tail())

    def _tail(self) -> list[Text]:
        lines = max(1, TAIL_LINES // max(1, len(self._speaking)))
        return [self._end_of(seat, text, lines) for seat, text in self._speaking.values() if text]

    def _end_of(self, seat: str, text: str, lines: int) -> Text:
        words = Text(f"{plain(seat)}  ", style="bold")
        shown = plain(text)[-lines * self.console.width :]
        words.append("\n".join(shown.splitlines()[-lines:]), style="not bold dim")
        return words

    def _print(self, event: Event) -> None:
        if event.type in ("message_completed", "message_parsed", "message_altered"):
            print_message(self.console, _readable(Message.read(event.data)))
        elif event.type == "waiting_for_user":
            self._note(f'The run {event.words()}\n  arena say {self._run_id} "…" [--action …]', "yellow")
        elif isinstance(event, Judged | BallotRead | BattleJudged | Executed | CycleRated | Waiting):
            self._note(event.words(), "cyan")
        elif isinstance(event, Ended):
            self._note(f"The run is {event.words()}", "red" if event.state == "failed" else "green")
        elif event.type in ("turn_started", "stage_started", "call_failed", "call_retried", "experiment_state"):
            self._note(_told(event), "dim")

    def _note(self, text: str, style: str) -> None:
        self.console.print(Text(plain(text), style=style))

    def _count(self, *, is_last: bool) -> None:
        """Not more often than once a second: events may come by the hundred."""
        if not is_last and time.monotonic() - self._looked < TOTALS_SECONDS:
            return
        self._looked = time.monotonic()
        try:
            run = self._arena.runs.get(self._run_id)
        except ArenaError:
            return  # the bar can wait; what really is wrong shows where the events come from
        self.set(run.turn, run.usage.input_tokens + run.usage.output_tokens, run.cost)


def _readable(message: Message) -> Message:
    """What a model writes for a program is shown when it was read, by the event that follows."""
    is_for_programs = message.text.lstrip().startswith("{") and len(message.text) > LONGEST_MACHINE_TEXT
    if not is_for_programs:
        return message
    return Message.read(message.to_json() | {"text": f"{message.text[:LONGEST_MACHINE_TEXT]} …"})


def _told(event: Event) -> str:
    parts = [event.words()] + [str(event.data[name]) for name in ("stage", "state", "error") if event.data.get(name)]
    return "· " + " · ".join(parts)
