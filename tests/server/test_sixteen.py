"""A full race, its places checked by an engine that shares no code with the referee."""

import json
import random
from typing import Any

from msgspec.structs import replace

from tests.rules import naive
from tests.server.floor import QUICK, Someone, node, race_of
from wire import messages as m


async def record(someone: Someone, code: str) -> list[tuple[int, dict[str, Any]]]:
    """The journal of a finished room as any client can get it."""
    lines: list[str] = []
    while True:
        await someone.say(m.Record(room=code, start=len(lines)))
        part = await someone.hear(m.Journal)
        lines.extend(part.entries)
        if len(lines) >= part.total:
            break
    return [(int(line.partition(" ")[0]), json.loads(line.partition(" ")[2])) for line in lines]


async def test_sixteen_race_on_one_deal_and_the_places_are_right(store_url: str) -> None:
    async with node(store_url) as one, node(store_url) as two:
        names = [f"player-{number}" for number in range(16)]
        settings = replace(QUICK, seed=None)
        code, players = await race_of(one.port, *names, settings=settings)
        watcher = await Someone.arrive(two.port, "wanda")
        chance = random.Random(7)
        for player in players:
            for n in range(1, chance.randint(2, 30)):
                await player.say(m.Hint())
                moves = (await player.hear(m.Hints)).moves
                await player.play(n, chance.choice(moves))
        for player in players[:14]:
            await player.say(m.Resign())
            await player.hear(m.Finished)
        for player in players[14:]:
            await player.say(m.Leave())
        result = await players[0].hear(m.Standings)
        journal = await record(watcher, code)

    assert result.reveal is not None
    layout = result.reveal.position
    assert {row.player: row.place for row in result.rows} == _places(journal, layout)
    for row in result.rows:
        game = naive.replay(layout, _moves(journal, row.player))
        assert (row.cards, row.down) == (naive.cards_home(game), naive.face_down(game))
        assert row.moves == len(_moves(journal, row.player))


def _moves(journal: list[tuple[int, dict[str, Any]]], player: str) -> list[str]:
    return [event["m"] for _, event in journal if event["e"] == "played" and event["p"] == player]


def _places(journal: list[tuple[int, dict[str, Any]]], layout: str) -> dict[str, int]:
    """The places by the rule, from the journal alone, move by move with the naive engine."""
    games, reached = {}, {}
    for at, event in journal:
        if event["e"] == "joined":
            games[event["p"]] = naive.read(layout)
        elif event["e"] == "started":
            reached = dict.fromkeys(games, at)
        elif event["e"] == "played":
            game = games[event["p"]]
            assert event["m"] in naive.moves(game)
            before = naive.cards_home(game), naive.face_down(game)
            naive.play(game, event["m"])
            if before != (naive.cards_home(game), naive.face_down(game)):
                reached[event["p"]] = at
    key = {
        player: (-naive.cards_home(game), naive.face_down(game), reached[player])
        for player, game in games.items()
    }
    return {player: 1 + sum(other < key[player] for other in key.values()) for player in games}
