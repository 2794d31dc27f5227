"""What is remembered of a player's tournaments."""

import pytest

from server.store import Store, keys
from server.store.tournaments import AT_ONCE, ENTERED


async def test_a_player_is_remembered_in_the_newest_tournaments(store: Store) -> None:
    for number in range(ENTERED + 2):
        await store.tournaments.enter(["ann", "bob"], f"T{number}", 1000 + number)
    await store.tournaments.leave("ann", f"T{ENTERED}")
    found = await store.tournaments.of("ann")
    assert found == [f"T{ENTERED + 1}", *(f"T{number}" for number in range(ENTERED - 1, 1, -1))]
    assert len(await store.tournaments.of("bob")) == ENTERED
    assert await store.tournaments.of("cem") == []
    assert await store.line.ask("TTL", keys.entered("bob")) > 0


async def test_who_plays_in_one_tournament_is_engaged_there_alone(store: Store) -> None:
    players = [(await store.players.create(f"p{n}"))[0].id for n in range(2 * AT_ONCE + 1)]
    assert await store.tournaments.engage(players[:1], "CUP") == {}
    assert await store.tournaments.engage(players, "OTHER") == {players[0]: "CUP"}
    assert await store.tournaments.engage(players, "CUP") == dict.fromkeys(players[1:], "OTHER")


@pytest.mark.parametrize(("over", "stands"), [("CUP", False), ("ELSE", True)])
async def test_what_is_over_engages_nobody(store: Store, over: str, stands: bool) -> None:
    player = (await store.players.create("Ann"))[0].id
    await store.tournaments.engage([player], "CUP")
    found = await store.tournaments.engage([player], "OTHER", over)
    assert found == ({player: "CUP"} if stands else {})
    again = await store.tournaments.engage([player], "OTHER")
    assert again == found


async def test_somebody_of_whom_there_is_no_record_is_free(store: Store) -> None:
    assert await store.tournaments.engage(["nobody"], "CUP") == {}
    assert await store.tournaments.engage(["nobody"], "OTHER") == {}
