"""A process that makes calls of one model within the limits that it shares with others, as a worker does.

`python -m tests.experiments.engine.limited BASE_URL CALLS LIMIT MODEL`. A call that fails ends it with an error.
"""

import asyncio
import sys

from experiments.engine.shared_limits import ModelLimits, SharedLimits
from experiments.gateway import ChatMessage, ChatRequest, Client, guarded_transport


async def main(base_url, calls, limit, model):
    limits, client = SharedLimits(), Client(base_url, "", guarded_transport(allow_private=True))
    request = ChatRequest(model=model, messages=(ChatMessage("user", "Hello"),))

    async def call():
        async with limits.slot(ModelLimits(7, "lab", "model", limit), 0, 900.0):
            async for _item in client.stream(request):
                pass

    telling = asyncio.create_task(limits.run())
    await asyncio.gather(*(call() for _ in range(calls)))
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)
    await limits.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
