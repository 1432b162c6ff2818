"""What visitors of the public arena cost while they wait: each of 200 watches two answers grow.

Battles are under way in the database, and their texts grow all the time; no model is asked, so that the web server
alone is measured. First they watch by WebSocket, then they ask, as pages do whose WebSocket is blocked.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import django
import httpx
import websockets

from benchmarks.parts import PYTHON, ROOT, Parts, platform

VISITORS, SECONDS, GROWS = 200, 20.0, 0.25
SOON = 0.7  # seconds between two questions of `static/public-arena.js` while answers grow
Watch = Callable[[str, str], Awaitable[int]]  # session, battle; how often something new came


def main() -> None:
    with platform() as parts:
        parts.stop("worker")
        made = subprocess.run(
            [PYTHON, "-m", "benchmarks.visitors", "prepare"],
            cwd=ROOT, env=parts.environment, check=True, capture_output=True, text=True,
        )  # fmt: skip
        cookie, visitors = json.loads(made.stdout.splitlines()[-1])
        parts.start("growing", PYTHON, "-m", "benchmarks.visitors", "grow")
        asyncio.run(_measure("by WebSocket", parts, visitors, _by_socket(parts, cookie)))
        asyncio.run(_measure("by asking", parts, visitors, _by_asking(parts, cookie)))


async def _measure(how: str, parts: Parts, visitors: list[list[str]], watch: Watch) -> None:
    """visitors: session and battle of each."""

    async def after(late: float, session: str, battle: str) -> int:
        await asyncio.sleep(late)
        return await watch(session, battle)

    before, began = _processor(parts), time.monotonic()
    found = await asyncio.gather(*(after(SOON * place / VISITORS, *one) for place, one in enumerate(visitors)))
    spent, took = _processor(parts) - before, time.monotonic() - began
    print(
        f"{VISITORS} visitors who watch answers grow {how}   {spent / took * 100:.0f} % of a core, "
        f"something new for each every {took * VISITORS / max(1, sum(found)):.1f} s"
    )


def _by_socket(parts: Parts, cookie: str) -> Watch:
    async def watch(session: str, battle: str) -> int:
        headers = {"Cookie": f"{cookie}={session}", "Origin": f"http://127.0.0.1:{parts.port}"}
        url, came = f"ws://127.0.0.1:{parts.port}/ws/public-arena/{battle}/", 0
        async with websockets.connect(url, additional_headers=headers, open_timeout=60, max_size=None) as socket:
            until = time.monotonic() + SECONDS
            while (left := until - time.monotonic()) > 0:
                try:
                    await asyncio.wait_for(socket.recv(), left)
                except TimeoutError:
                    break
                came += 1
        return came

    return watch


def _by_asking(parts: Parts, cookie: str) -> Watch:
    async def watch(session: str, battle: str) -> int:
        came, told, until = 0, "", time.monotonic() + SECONDS
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{parts.port}", timeout=60) as client:
            while time.monotonic() < until:
                answer = await client.get(f"/public-arena/{battle}/news/", headers={"Cookie": f"{cookie}={session}"})
                answer.raise_for_status()
                came, told = came + (answer.text != told), answer.text
                await asyncio.sleep(SOON)
        return came

    return watch


def _processor(parts: Parts) -> float:
    """Seconds of processor time that the web server has taken."""
    fields = Path(f"/proc/{parts.processes['web'].pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def prepare() -> None:
    """Opens the arena, and begins a battle for each visitor; prints their sessions and battles."""
    from decimal import Decimal  # noqa: PLC0415 - after the set-up
    from importlib import import_module  # noqa: PLC0415

    from django.conf import settings  # noqa: PLC0415
    from django.utils.crypto import salted_hmac  # noqa: PLC0415

    from accounts.models import User  # noqa: PLC0415
    from experiments.models import Call, Provider, ProviderModel, Step  # noqa: PLC0415
    from leaderboard.arena import battles, opening  # noqa: PLC0415
    from leaderboard.votes.voters import VISITOR, Voter  # noqa: PLC0415

    admin = User.objects.create_user("admin", password=None, role="admin")
    provider = Provider.objects.create(name="nobody", base_url="http://127.0.0.1:9/v1", allow_private=True)
    models = [
        ProviderModel.objects.create(provider=provider, slug=f"m/{name}", upstream=name, label=name) for name in "abcd"
    ]
    arena = opening.configure(
        by=admin, is_open=True, models=models, daily_cost=Decimal(100), battles_per_hour=10_000, longest_prompt=4000,
        is_moderated=True, allows_unknown_prices=True,
    )  # fmt: skip
    told = []
    for _visitor in range(VISITORS):
        session = import_module(settings.SESSION_ENGINE).SessionStore()
        session.create()
        key = salted_hmac("experiments.votes", session.session_key, algorithm="sha256").hexdigest()
        battle = battles.begin(arena, voter=Voter(f"{VISITOR}{key}"), prompt="Tell me a long story.", may_publish=False)
        for task in battle.run.overrides["tasks"]:
            name = f"output/{task['contestant']}/{battle.sample_id}"
            step = Step.objects.create(run=battle.run, key=name, kind="ask", purpose="output", seat=task["seat"])
            Call.objects.create(run=battle.run, step=step, attempt=1, model=models[0], request={}, text="Once")
        told.append([session.session_key, str(battle.pk)])
    print(json.dumps([settings.SESSION_COOKIE_NAME, told]))


def grow() -> None:
    from django.db.models import Value  # noqa: PLC0415 - after the set-up
    from django.db.models.functions import Concat  # noqa: PLC0415

    from experiments.models import Call  # noqa: PLC0415

    while True:
        Call.objects.filter(state="sent").update(text=Concat("text", Value(" and so on, word by word")))
        time.sleep(GROWS)


if __name__ == "__main__":
    if verbs := sys.argv[1:]:
        django.setup()
        {"prepare": prepare, "grow": grow}[verbs[0]]()
    else:
        main()
