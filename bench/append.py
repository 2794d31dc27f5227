"""Processor time of this process for one appended play: the line against redis-py's pipeline.

Both run the same script on the same private store with the same pattern: waves of plays
that are in flight together, as the plays of one turn of a node's loop are.

    python -m bench.append [--plays N] [--wave N] [--asyncio]
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from redis.asyncio import Redis

from server.store import Appended, Embedded, Store, keys, lua

ROUNDS = 5
PAYLOAD = b'{"e":"played","p":"p0","n":123,"m":"5>2:4"}'

Wave = Callable[[str, int, int], Awaitable[None]]


async def open_race(store: Store, code: str) -> None:
    """Have a running race in the store."""
    done = await store.journals.append(
        keys.room(code),
        [b"started"],
        expect=0,
        ttl_s=600,
        sets={"phase": "running"},
        offsets={"start": 0, "deadline": 600_000},
    )
    assert isinstance(done, Appended)


def by_line(store: Store) -> Wave:
    """Play over the line, as a node does."""

    async def wave(code: str, first: int, count: int) -> None:
        left = count
        all_done = asyncio.get_running_loop().create_future()

        def done(outcome: object) -> None:
            nonlocal left
            assert isinstance(outcome, Appended), outcome
            left -= 1
            if not left:
                all_done.set_result(None)

        jid = keys.room(code)
        for n in range(first, first + count):
            store.journals.act(jid, "p0", 1, n, PAYLOAD, {}, done)
        await all_done

    return wave


def by_redis_py(client: Redis) -> Wave:
    """Play through a pipeline of redis-py."""

    async def wave(code: str, first: int, count: int) -> None:
        names = keys.journal(keys.room(code))
        async with client.pipeline(transaction=False) as pipe:
            for n in range(first, first + count):
                pipe.evalsha(lua.ACT.sha, 2, *names, "p0", 1, n, PAYLOAD)
            for reply in await pipe.execute():
                version, at = reply
                assert Appended(version, at).version > 1

    return wave


async def measure(play: Wave, code: str, plays: int, size: int) -> float:
    """Give the microseconds of processor time per play."""
    before = time.process_time()
    for first in range(1, plays + 1, size):
        await play(code, first, size)
    return (time.process_time() - before) / plays * 1e6


async def bench(plays: int, size: int) -> None:
    """Measure in turns and print the medians and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        async with Embedded(Path(folder)) as url:
            store, client = await Store.open(url), Redis.from_url(url)
            took: dict[str, list[float]] = {"line": [], "redis-py pipeline": []}
            ways = dict(zip(took, (by_line(store), by_redis_py(client)), strict=True))
            for i in range(ROUNDS):
                for name, play in ways.items():
                    code = f"{name}{i}"
                    await open_race(store, code)
                    took[name].append(await measure(play, code, plays, size))
            await client.aclose()
            await store.close()
    medians = {name: statistics.median(each) for name, each in took.items()}
    print(f"{plays} plays in waves of {size}, {type(asyncio.get_running_loop()).__module__}")
    for name, median in medians.items():
        print(f"  {name:18} {median:6.2f} us of CPU per play")
    line, pipeline = medians.values()
    print(f"  ratio line / redis-py pipeline: {line / pipeline:.2f}")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plays", type=int, default=20_000)
    parser.add_argument("--wave", type=int, default=50, help="plays in flight together")
    parser.add_argument("--asyncio", action="store_true", help="without uvloop")
    options = parser.parse_args()
    plays = options.plays // options.wave * options.wave
    factory = None
    if not options.asyncio:
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(bench(plays, options.wave))


if __name__ == "__main__":
    main()
