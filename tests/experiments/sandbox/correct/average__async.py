import asyncio


async def add(values):
    await asyncio.sleep(0)
    return sum(values)


async def average(values):
    if not values:
        return None
    total, count = await asyncio.gather(add(values), add([1] * len(values)))
    return total / count
