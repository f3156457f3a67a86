"""As many empty sessions as the argument says, 50 at once: gather and a semaphore, as asyncio's users write it."""

import asyncio
import json
import sys
import time


async def main(agents):
    gate = asyncio.Semaphore(50)
    done = 0

    async def session():
        nonlocal done
        async with gate:
            done += 1

    began = time.perf_counter()
    await asyncio.gather(*(session() for _ in range(agents)))
    took = time.perf_counter() - began
    assert done == agents
    print(json.dumps({"µs/session": took * 1e6 / agents}))


asyncio.run(main(int(sys.argv[1])))
