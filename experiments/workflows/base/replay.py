"""Follows a workflow's generator: which steps it needs next, given what is already recorded. No database, no clock."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Ask, End, Execute, Listen, Outcome, Play, Step

RECORDED = Outcome()
STEPS = Ask | Execute | Record | Listen


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


_Turn = tuple[_Branch, Any]


@dataclass(slots=True)
class Todo:
    """What has to be done now, in order. end is set once the workflow itself has returned."""

    steps: list[Step] = field(default_factory=list)
    end: End | None = None


class Replay:
    """A workflow being played. Recorded steps are answered at once; the others come out as Todo and are resolved.

    begun: every key that has ever been begun, recorded or not. A pause that left no record, although later steps were
    begun, was passed when the run was automatic, and is passed again, whatever the run's mode is now. That is known by
    the end of `start`: what was begun and is not reached by then was reopened, and need not be reached at all.
    """

    def __init__(self, play: Play, recorded: Mapping[str, Outcome], begun: Collection[str] = ()) -> None:
        self._root = _Branch(play)
        self._recorded = recorded
        self._ahead = set(begun) | set(recorded)
        self._waiting: dict[str, tuple[_Branch, _Group | None, int]] = {}
        self._keys: set[str] = set()

    def start(self) -> Todo:
        todo = self._play_on((self._root, None))
        self._ahead.clear()
        return todo

    def resolve(self, key: str, outcome: Outcome) -> Todo:
        """Continue with what became of the step `key`. A step that nobody waits for is ignored."""
        if waiting := self._waiting.pop(key, None):
            branch, group, slot = waiting
            return (
                self._play_on((branch, outcome)) if group is None else self._play_on(self._fill(group, slot, outcome))
            )
        return Todo()

    def _play_on(self, first: _Turn | None) -> Todo:
        """Advance every branch that can go on. A list, not recursion: a recorded run may have any length."""
        todo = Todo()
        ready: deque[_Turn] = deque([first] if first else [])
        while ready:
            branch, value = ready.popleft()
            ready.extendleft(reversed(self._advance(branch, value, todo)))
        return todo

    def _advance(self, branch: _Branch, value: Any, todo: Todo) -> list[_Turn]:
        """Send a branch its value; returns whose turn it is after that."""
        try:
            wanted = branch.play.send(value)
        except StopIteration as stop:
            return self._finish(branch, stop.value, todo)
        if not isinstance(wanted, STEPS):
            return self._fan_out(branch, wanted, todo)
        if self._have(wanted, todo):
            return [(branch, self._outcome(wanted))]
        self._waiting[wanted.key] = (branch, None, 0)
        return []

    def _fan_out(self, branch: _Branch, wanted: Sequence[Any], todo: Todo) -> list[_Turn]:
        group = _Group(branch, [None] * len(wanted), len(wanted))
        turns: list[_Turn] = []
        for slot, item in enumerate(wanted):
            if not isinstance(item, STEPS):
                turns.append((_Branch(item, group, slot), None))
            elif self._have(item, todo):
                group.results[slot] = self._outcome(item)
                group.missing -= 1
            else:
                self._waiting[item.key] = (branch, group, slot)
        return turns if group.missing else [(branch, group.results)]

    def _finish(self, branch: _Branch, value: Any, todo: Todo) -> list[_Turn]:
        if branch.group is not None:
            turn = self._fill(branch.group, branch.slot, value)
            return [turn] if turn else []
        todo.end = value if isinstance(value, End) else End("completed")
        return []

    def _fill(self, group: _Group, slot: int, value: Any) -> _Turn | None:
        """Put a result in its place; the owner's turn comes with the last one."""
        group.results[slot] = value
        group.missing -= 1
        return None if group.missing else (group.owner, group.results)

    def _have(self, step: Step, todo: Todo) -> bool:
        """Whether the generator can go on at once: the step is recorded, or is a record to be made in passing."""
        if step.key in self._keys:
            raise ValueError(f"The workflow used the key {step.key!r} twice.")
        self._keys.add(step.key)
        was_begun = step.key in self._ahead
        self._ahead.discard(step.key)
        if step.key in self._recorded or (self._ahead and _may_pass(step) and not was_begun):
            return True
        todo.steps.append(step)
        return isinstance(step, Record)

    def _outcome(self, step: Step) -> Outcome:
        if isinstance(step, Listen) and step.key not in self._recorded:
            return passed(step)
        return self._recorded.get(step.key, RECORDED)


def passed(pause: Listen) -> Outcome:
    """What a pause comes to when nobody is asked."""
    return Outcome(text=pause.default, action="default", passed=True)


def _may_pass(step: Step) -> bool:
    return isinstance(step, Listen) and step.may_pass
