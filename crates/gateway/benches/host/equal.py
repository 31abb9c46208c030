"""Prints the nanoseconds of a check and of a state call: find the run, ask whether it may, note that it was active.

The first argument is empty, or a file with the same four functions over other classes:
`fill(runs, grants)`, `check(run, tool)` (a coroutine that gives whether it may), `put(key, value)`, `get(key)`.
"""
import asyncio
import copy
import runpy
import sys
import threading
import time


class Runs:
    def __init__(self):
        self.by_id, self.lock = {}, asyncio.Lock()

    async def register(self, run, granted):
        frozen = copy.deepcopy(granted)
        names = {kind: {it["name"] for it in items} for kind, items in frozen.items()}
        async with self.lock:
            self.by_id[run] = {"granted": frozen, "names": names, "active_at": int(time.time())}

    async def find(self, run):
        async with self.lock:
            return self.by_id.get(run)

    async def touch(self, run):
        async with self.lock:
            if run in self.by_id:
                self.by_id[run]["active_at"] = int(time.time())


runs, kept, lock = Runs(), {}, threading.Lock()


async def fill(count, grants):
    few = {"tool": [{"name": f"tool {n}"} for n in range(10)]}
    many = {"tool": [{"name": f"tool {n}"} for n in range(grants)]}
    for n in range(count):
        await runs.register(f"run {n}", few if n % 100 else many)


async def check(run, tool):
    found = await runs.find(run)
    await runs.touch(run)
    return tool in found["names"].get("tool", set())


def drawer():
    return ":".join(["agent", "own", "user", "ada"])


def put(key, value):
    with lock:
        kept.setdefault(drawer(), {})[key] = value


def get(key):
    with lock:
        return kept.get(drawer(), {}).get(key)


async def main(fill, check, put, get):
    count, grants, keys, checks, values = map(int, sys.argv[2:])
    await fill(count, grants)
    ids = [f"run {n}" for n in range(0, count, 100)]
    tools = [f"tool {n}" for n in range(grants)]
    times = []
    for _ in range(5):
        start = time.perf_counter_ns()
        for n in range(checks):
            assert await check(ids[n % len(ids)], tools[n % grants])
        times.append((time.perf_counter_ns() - start) / checks)
    names = [f"k{n}" for n in range(keys)]
    start = time.perf_counter_ns()
    for n in range(values):
        if n % 2:
            put(names[n % keys], n)
        else:
            get(names[n % keys])
    print(min(times), (time.perf_counter_ns() - start) / values)


others = runpy.run_path(sys.argv[1]) if sys.argv[1] else globals()
asyncio.run(main(*(others[name] for name in ("fill", "check", "put", "get"))))
