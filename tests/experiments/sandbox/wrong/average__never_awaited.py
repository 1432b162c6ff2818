import asyncio


async def add(values):
    await asyncio.sleep(0)
    return sum(values)


def average(values):
    return [add(values)]
