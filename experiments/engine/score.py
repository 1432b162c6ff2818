"""Follows a workflow's generator: which steps it needs next, given what is already recorded. No database, no clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.workflows.steps import Ask, End, Outcome, Play, Record, Step

RECORDED = Outcome()


@dataclass(slots=True)
class _Branch:
    """A generator that advances by itself; `slot` is its place among its siblings."""

    play: Play
    group: "_Group | None" = None
    slot: int = 0


@dataclass(slots=True)
class _Group:
    """Independent steps or sub-generators that one branch waits for all together."""

    owner: _Branch
    results: list[Any]
    missing: int


@dataclass(slots=True)
class Todo:
    """What has to be done now, in order. end is set once the workflow itself has returned."""

    steps: list[Step] = field(default_factory=list)
    end: End | None = None


class Score:
    """A workflow being played. Recorded steps are answered at once; the others come out as Todo and are resolved."""

    def __init__(self, play: Play, recorded: Mapping[str, Outcome]) -> None:
        self._root = _Branch(play)
        self._recorded = recorded
        self._waiting: dict[str, tuple[_Branch, _Group | None, int]] = {}
        self._keys: set[str] = set()

    def start(self) -> Todo:
        todo = Todo()
        self._advance(self._root, None, todo)
        return todo

    def resolve(self, key: str, outcome: Outcome) -> Todo:
        """Continue with what became of the step `key`. A step that nobody waits for is ignored."""
        todo = Todo()
        if waiting := self._waiting.pop(key, None):
            branch, group, slot = waiting
            self._deliver(branch, group, slot, outcome, todo)
        return todo

    def _advance(self, branch: _Branch, value: Any, todo: Todo) -> None:
        while True:
            try:
                wanted = branch.play.send(value)
            except StopIteration as stop:
                self._finish(branch, stop.value, todo)
                return
            if isinstance(wanted, Ask | Record):
                if not self._have(wanted, todo):
                    self._waiting[wanted.key] = (branch, None, 0)
                    return
                value = self._outcome(wanted)
            elif not wanted:
                value = []
            else:
                self._fan_out(branch, wanted, todo)
                return

    def _fan_out(self, branch: _Branch, wanted: Sequence[Any], todo: Todo) -> None:
        group = _Group(branch, [None] * len(wanted), len(wanted))
        ready: list[int] = []
        for slot, item in enumerate(wanted):
            if not isinstance(item, Ask | Record):
                self._advance(_Branch(item, group, slot), None, todo)
            elif self._have(item, todo):
                group.results[slot] = self._outcome(item)
                ready.append(slot)
            else:
                self._waiting[item.key] = (branch, group, slot)
        for slot in ready:
            self._deliver(branch, group, slot, group.results[slot], todo)

    def _deliver(self, branch: _Branch, group: _Group | None, slot: int, value: Any, todo: Todo) -> None:
        if group is None:
            self._advance(branch, value, todo)
            return
        group.results[slot] = value
        group.missing -= 1
        if not group.missing:
            self._advance(group.owner, group.results, todo)

    def _finish(self, branch: _Branch, value: Any, todo: Todo) -> None:
        if branch.group is None:
            todo.end = value if isinstance(value, End) else End("completed")
        else:
            self._deliver(branch.group.owner, branch.group, branch.slot, value, todo)

    def _have(self, step: Step, todo: Todo) -> bool:
        """Whether the generator can go on at once: the step is recorded, or is a record to be made in passing."""
        if step.key in self._keys:
            raise ValueError(f"The workflow used the key {step.key!r} twice.")
        self._keys.add(step.key)
        if step.key in self._recorded:
            return True
        todo.steps.append(step)
        return isinstance(step, Record)

    def _outcome(self, step: Step) -> Outcome:
        return self._recorded.get(step.key, RECORDED)
