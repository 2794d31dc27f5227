"""The timers that there are, read off the store itself."""

from server.store import Store, keys


async def dues(store: Store) -> dict[str, int]:
    """Every timer and its instant, the next one first."""
    found: list[tuple[int, str]] = []
    for shard in range(keys.TIMER_SHARDS):
        rows = await store.line.ask("ZRANGE", keys.timers(shard), 0, -1, "WITHSCORES")
        found += [(int(due), member.decode()) for member, due in rows]
    return {member: due for due, member in sorted(found)}
