"""As many sleeps as the first argument says, of the seconds that the second says, 10, 50 and 100 at once: hundredths over the ideal."""

import asyncio
import json
import statistics
import sys
import time


async def over(sleeps, step, at_once):
    gate = asyncio.Semaphore(at_once)

    async def session():
        async with gate:
            await asyncio.sleep(step)

    began = time.perf_counter()
    await asyncio.gather(*(session() for _ in range(sleeps)))
    took = time.perf_counter() - began
    return 100 * (took / (sleeps / at_once * step) - 1)


sleeps, step = int(sys.argv[1]), float(sys.argv[2])
print(json.dumps({
    f"points at {at_once}": statistics.median(asyncio.run(over(sleeps, step, at_once)) for _ in range(times))
    for at_once, times in ((10, 1), (50, 3), (100, 5))
}))
