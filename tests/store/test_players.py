import asyncio
import hashlib

import pytest

from server.store import Missing, Player, Store, keys
from tests.store.conftest import known


async def every_key(store: Store) -> list[bytes]:
    return [key for line in store.lines for key in await line.ask("KEYS", "*")]


async def test_a_token_leads_back_to_its_player(store: Store, other: Store) -> None:
    player, token = await store.players.create("Ann", bot=True)
    assert await other.players.find(token) == player == Player(player.id, "Ann", bot=True)
    assert await store.players.get(player.id) == player


@pytest.mark.parametrize("token", ["", "x" * 43, "\ud800"])
async def test_a_token_of_nobody_leads_nowhere(store: Store, token: str) -> None:
    await store.players.create("Ann")
    assert await store.players.find(token) is None


async def test_the_token_itself_is_kept_nowhere(store: Store) -> None:
    _, token = await store.players.create("Ann")
    assert len(token) >= 43
    held = []
    for key in await every_key(store):
        held.append(key)
        is_hash = await store.line.ask("TYPE", key) == b"hash"
        held.append(await store.line.ask("HGETALL" if is_hash else "GET", key))
    assert token not in repr(held)
    assert hashlib.sha256(token.encode()).hexdigest() in repr(held)


async def test_ids_and_tokens_are_never_the_same_twice(store: Store) -> None:
    made = await asyncio.gather(*(store.players.create("Ann") for _ in range(200)))
    assert len({player.id for player, _ in made}) == 200
    assert len({token for _, token in made}) == 200


async def test_an_id_that_is_taken_is_not_given_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters = iter("aaaaaaaa" + "aaaaaaaa" + "bbbbbbbb")
    monkeypatch.setattr("secrets.choice", lambda _: next(letters))
    first, token = await store.players.create("Ann")
    second, _ = await store.players.create("Bob")
    assert (first.id, second.id) == ("aaaaaaaa", "bbbbbbbb")
    assert await store.players.find(token) == first


async def test_each_connection_has_a_greater_epoch(store: Store, other: Store) -> None:
    player, token = await store.players.create("Ann")
    epochs = [await node.players.connect(player.id) for node in (store, other, store, other)]
    assert epochs == sorted(set(epochs))
    assert known(await store.players.find(token)).epoch == epochs[-1]


async def test_a_record_that_lost_its_last_moments_gives_no_number_again(store: Store) -> None:
    player, _ = await store.players.create("Ann")
    before = await store.line.ask("HGETALL", keys.player(player.id))
    seen = [await store.players.connect(player.id) for _ in range(3)]
    older = [text for pair in before.items() for text in pair]
    await store.line.ask("HSET", keys.player(player.id), *older)
    await asyncio.sleep(0.005)  # no restart is quicker
    assert await store.players.connect(player.id) > max(seen)


async def test_a_clock_that_goes_back_takes_no_number_back(store: Store) -> None:
    player, _ = await store.players.create("Ann")
    ahead = store.clock.now() + 60_000
    await store.line.ask("HSET", keys.player(player.id), "epoch", ahead)
    assert await store.players.connect(player.id) == ahead + 1


async def test_a_name_can_be_changed(store: Store) -> None:
    player, token = await store.players.create("Ann")
    await store.players.rename(player.id, "Änne ☂")
    assert known(await store.players.find(token)).name == "Änne ☂"


async def test_a_player_is_led_back_to_the_room(store: Store) -> None:
    player, token = await store.players.create("Ann")
    await store.players.set_room(player.id, "ABCDEF", "player")
    found = known(await store.players.find(token))
    assert (found.room, found.role) == ("ABCDEF", "player")
    await store.players.set_room(player.id, None)
    found = known(await store.players.find(token))
    assert (found.room, found.role) == (None, "")


async def test_who_is_not_there_is_missing_and_not_half_made(store: Store) -> None:
    for attempt in (
        store.players.connect("nobody"),
        store.players.rename("nobody", "Ann"),
        store.players.set_room("nobody", "ABCDEF"),
    ):
        with pytest.raises(Missing):
            await attempt
    assert await store.players.get("nobody") is None


async def test_record_and_token_live_on_with_each_connection(store: Store) -> None:
    player, _ = await store.players.create("Ann")
    every = await every_key(store)
    assert len(every) == 2
    for key in every:
        assert await store.line.ask("TTL", key) >= keys.PLAYER_S - 5
        await store.line.ask("EXPIRE", key, 100)
    await store.players.connect(player.id)
    for key in every:
        assert await store.line.ask("TTL", key) >= keys.PLAYER_S - 5


async def test_a_new_token_leads_to_the_player_and_the_former_one_nowhere(
    store: Store, other: Store
) -> None:
    player, former = await store.players.create("Ann", enrolled="CUP")
    epoch = await store.players.connect(player.id)
    token = await other.players.renew(player.id, "CUP")
    assert token is not None
    assert known(await store.players.find(token)).id == player.id
    assert await store.players.find(former) is None
    assert known(await store.players.get(player.id)).epoch > epoch  # who was there is outdated
    assert len(await every_key(store)) == 2
    assert await store.players.connect(player.id) > epoch


async def test_a_former_token_that_could_not_be_forgotten_leads_nowhere(store: Store) -> None:
    player, former = await store.players.create("Ann", enrolled="CUP")
    held = keys.token(hashlib.sha256(former.encode()).hexdigest())
    await store.players.renew(player.id, "CUP")
    await store.line.ask("SET", held, player.id)  # as a crash would leave it
    assert await store.players.find(former) is None


@pytest.mark.parametrize("enrolled", ["", "OTHER"])
async def test_a_token_is_renewed_for_none_but_who_gave_it_out(store: Store, enrolled: str) -> None:
    player, token = await store.players.create("Ann", enrolled=enrolled)
    assert await store.players.renew(player.id, "CUP") is None
    assert await store.players.renew("nobody", "CUP") is None
    assert known(await store.players.find(token)).id == player.id
    assert len(await every_key(store)) == 2
