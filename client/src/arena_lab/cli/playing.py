"""Starting runs, and watching them until they are over or somebody leaves."""

import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence

from rich.console import Console

from arena_lab.cli import codes
from arena_lab.cli.commands import arena_of, run_of, say_so
from arena_lab.cli.screen import Bar, Screen
from arena_lab.cli.starting import plan_of
from arena_lab.cli.words import money, write_json
from arena_lab.client import Arena
from arena_lab.events import Waiting
from arena_lab.records import Experiment, Run

LOOK_SECONDS = 1.0
WORST = (codes.RUN_FAILED, codes.RUN_STOPPED, codes.DONE)


def run(asked: Namespace) -> int:
    plan = plan_of(asked)
    with arena_of(asked) as arena:
        experiment = arena.experiments.create(
            asked.workflow, plan.cast, plan.config, title=plan.title, project=plan.project
        )
        runs = arena.experiments.start(experiment, repeats=asked.repeats, seed=asked.seed)
        if asked.json and not asked.watch:
            write_json(runs)
            return codes.DONE
        if not asked.watch:
            say_so("\n".join(one.id for one in runs))
            return codes.DONE
        return _watched(arena, experiment, runs, asked)


def _watched(arena: Arena, experiment: Experiment, runs: Sequence[Run], asked: Namespace) -> int:
    if experiment.workflow == "battles":
        return _leaving(lambda: _campaign(arena, experiment), f"arena runs --workflow battles  # {experiment.id}")
    if len(runs) > 1:
        return _leaving(lambda: _many(arena, runs), *(f"arena watch {one.id}" for one in runs))
    [alone] = runs
    return _leaving(lambda: _one(arena, alone.id, experiment, asked), f"arena watch {alone.id}")


def watch(asked: Namespace) -> int:
    with arena_of(asked) as arena:
        found = arena.runs.get(run_of(arena, asked))
        experiment = arena.experiments.get(found.experiment)
        return _leaving(lambda: _one(arena, found.id, experiment, asked), f"arena watch {found.id}")


def _leaving(stay: Callable[[], int], *again: str) -> int:
    """Whoever leaves is told that nothing ends by it."""
    try:
        return stay()
    except KeyboardInterrupt:
        console = Console(stderr=True, highlight=False, soft_wrap=True)
        console.print("\nDetached: it goes on without you. To watch again:", markup=False)
        for command in again:
            console.print(f"  {command}", markup=False)
        return codes.DETACHED


def _one(arena: Arena, run_id: str, experiment: Experiment, asked: Namespace) -> int:
    after = getattr(asked, "after", 0)
    if asked.json:
        return _as_lines(arena, run_id, after, asked.until_pause)
    with Screen(arena, run_id, experiment) as screen:
        for item in arena.watch(run_id, after=after, deltas=True, on_trouble=screen.trouble):
            screen.show(item)
            if asked.until_pause and _waits(arena, run_id, item):
                return codes.RUN_WAITS
    ended = arena.runs.get(run_id)
    say_so(f"{run_id}: {ended.turn} turns, {ended.facts()['Tokens']}, {money(ended.cost)}")
    return codes.OF_STATE[ended.state]


def _as_lines(arena: Arena, run_id: str, after: int, until_pause: bool) -> int:
    for event in arena.watch(run_id, after=after):
        sys.stdout.write(json.dumps(event.to_json(), ensure_ascii=False) + "\n")
        sys.stdout.flush()
        if until_pause and _waits(arena, run_id, event):
            return codes.RUN_WAITS
    return codes.OF_STATE[arena.runs.get(run_id).state]


def _waits(arena: Arena, run_id: str, item: object) -> bool:
    """Now, and not only then: an event of the past may have been answered."""
    if not (isinstance(item, Waiting) and item.type == "waiting_for_user"):
        return False
    waiting_for = arena.runs.get(run_id).waiting_for
    return waiting_for is not None and waiting_for.key == item.pause.key


def _many(arena: Arena, runs: Sequence[Run]) -> int:
    """Repeats: how many are over, and what they have taken together."""
    latest = {one.id: one for one in runs}
    with Bar("runs", total=len(runs)) as bar:
        while True:
            latest |= {one.id: arena.runs.get(one) for one in latest.values() if not one.is_over}
            over = [one for one in latest.values() if one.is_over]
            tokens = sum(one.usage.input_tokens + one.usage.output_tokens for one in latest.values())
            costs = [one.cost for one in latest.values() if one.cost is not None]
            bar.set(len(over), tokens, sum(costs) if costs else None)
            if len(over) == len(latest):
                break
            time.sleep(LOOK_SECONDS)
    say_so("\n".join(f"{one.id}  {one.state}  {one.error or one.stop_reason}" for one in latest.values()))
    ended = {codes.OF_STATE[one.state] for one in latest.values()}
    return next(code for code in WORST if code in ended)


def _campaign(arena: Arena, experiment: Experiment) -> int:
    with Bar("battles") as bar:
        while True:
            campaign = arena.experiments.campaign(experiment)
            progress = campaign.progress
            tokens = progress.input_tokens + progress.output_tokens
            bar.set(progress.decided, tokens, progress.cost, total=progress.wanted)
            if campaign.is_over:
                break
            time.sleep(LOOK_SECONDS)
    say_so(
        f"{progress.decided:,} of {progress.wanted:,} battles are decided; {campaign.state} {campaign.note}".rstrip()
    )
    return {"failed": codes.RUN_FAILED, "stopped": codes.RUN_STOPPED}.get(campaign.state, codes.DONE)
