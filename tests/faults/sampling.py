"""Kept races of older formats: what is in a sample, and how one of today is made.

`python -m tests.faults.sampling NAME` plays a short race on a store and a node of its own
and keeps it under that name in tests/faults/samples. A sample is never made anew under an
old name: it is there to be read by whatever comes later.
"""

import asyncio
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import msgspec
import redis

from server.store import keys
from tests.faults.processes import ValkeyProcess
from tests.server.floor import Someone, node, race_of
from wire import messages as m
from wire.values import Settings

FOLDER = Path(__file__).parent / "samples"
# "?" is whatever is legal, and no draw where there is anything else.
PLAYS = {"anna": ["?", "d", "undo", "d", "?", "?"], "ben": ["d", "?", "undo", "d"]}


@dataclass
class Sample:
    """A race of two, as the store had it in the middle, and how it ended."""

    room: str
    players: dict[str, str]  # name to id
    tokens: dict[str, str]  # name to token
    records: dict[str, dict[str, str]]  # name to the player's record
    summary: dict[str, str]
    running: list[str]  # the journal in mid-race
    ended: list[str]  # the journal after the end
    standings: dict[str, Any]

    @classmethod
    def read(cls, name: str) -> Self:
        return cls(**json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))

    def put(self, client: redis.Redis, *, seconds_ago: float = 0.0) -> None:
        """Puts the race in mid-race into a store, its last entry so long ago."""
        last = int(self.running[-1].partition(" ")[0])
        shift = int((time.time() - seconds_ago) * 1000) - last
        journal, summary, _ = keys.journal(keys.room(self.room))
        for line in self.running:
            at, _, event = line.partition(" ")
            client.rpush(journal, f"{int(at) + shift} {event}")
        instants = {name: int(self.summary[name]) + shift for name in ("at", "start", "deadline")}
        fields: dict[Any, Any] = {**self.summary, **instants}
        client.hset(summary, mapping=fields)
        shard = keys.timers(0)
        client.zadd(shard, {self.room: instants["deadline"]})
        opened = json.loads(self.running[0].partition(" ")[2])
        revealed = json.loads(self.ended[-1].partition(" ")[2])
        client.set(keys.deal(opened["deal"]), bytes.fromhex(revealed["secret"]))
        for name, player in self.players.items():
            record: dict[Any, Any] = {**self.records[name]}
            client.hset(keys.player(player), mapping=record)
            client.set(keys.token(self.records[name]["token"]), player)


async def make() -> Sample:
    """Plays a race and keeps what the store held of it."""
    settings = Settings(title="a sample", undo="free", countdown_s=0, time_limit_s=60)
    with tempfile.TemporaryDirectory() as folder, ValkeyProcess("store", Path(folder)) as store:
        await store.start()
        async with node(store.url) as started:
            code, players = await race_of(started.port, *PLAYS, settings=settings)
            for player, texts in zip(players, PLAYS.values(), strict=True):
                for n, text in enumerate(texts, 1):
                    await _play(player, n, text)
            with store.client() as client:
                journal, summary, _ = keys.journal(keys.room(code))
                running = _texts(client.lrange(journal, 0, -1))
                fields = _pairs(client.hgetall(summary))
                ids = [player.welcome.player for player in players]
                records = [_pairs(client.hgetall(keys.player(each))) for each in ids]
                for player in players:
                    await player.say(m.Resign())
                standings = await players[0].hear(m.Standings)
                ended = _texts(client.lrange(journal, 0, -1))
    return Sample(
        room=code,
        players=dict(zip(PLAYS, ids, strict=True)),
        tokens={name: player.token for name, player in zip(PLAYS, players, strict=True)},
        records=dict(zip(PLAYS, records, strict=True)),
        summary=fields,
        running=running,
        ended=ended,
        standings=msgspec.to_builtins(standings),
    )


async def _play(player: Someone, n: int, text: str) -> None:
    if text == "?":
        await player.say(m.Hint())
        text = min((await player.hear(m.Hints)).moves, key=lambda move: move == "d")
    await player.say(m.Undo(n=n) if text == "undo" else m.Move(n=n, m=text))
    await player.hear(m.Moved)


def _texts(values: list[bytes]) -> list[str]:
    return [value.decode() for value in values]


def _pairs(fields: dict[bytes, bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in fields.items()}


def main() -> None:
    path = FOLDER / f"{sys.argv[1]}.json"
    if path.exists():
        sys.exit(f"{path} is there already, and a sample is not made anew")
    path.write_text(json.dumps(asdict(asyncio.run(make())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
