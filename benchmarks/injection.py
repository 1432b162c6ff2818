"""How often judges are talked into something: `python -m benchmarks.injection`, with simulated judges alone.

A judge of a real provider is measured by `manage.py try_injections MODEL`, which asks the same.
"""

import asyncio
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
django.setup()

from experiments.gateway import ChatMessage, ChatRequest, Client, Params, guarded_transport  # noqa: E402
from experiments.lab.injections.rates import measured  # noqa: E402
from experiments.management.commands.try_injections import lines  # noqa: E402
from experiments.workflows.base.steps import Ask, Outcome  # noqa: E402
from tests.parts.simulated import running  # noqa: E402

JUDGES = ("sim/judge:first=0", "sim/judge:first=0:gullible=0.3", "sim/judge:first=0:gullible=1")


def main() -> None:
    with running(tps=0) as provider:
        for name in JUDGES:
            print(f"{name} (simulated)")
            print("\n".join(asyncio.run(_rates(provider.base_url, name))))


async def _rates(address: str, name: str) -> list[str]:
    async with guarded_transport(allow_private=True) as transport:
        client = Client(address, "", transport)

        async def judge(ask: Ask) -> Outcome:
            messages = tuple(ChatMessage(prompt.role, prompt.content) for prompt in ask.messages)
            request = ChatRequest(name, messages, Params(**ask.params), schema=ask.schema)
            return Outcome(text=(await client.complete(request)).text)

        return lines(await measured(judge))


if __name__ == "__main__":
    main()
