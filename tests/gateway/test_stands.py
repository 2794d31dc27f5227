"""Websockets at other paths than the players': what is shown there is for anybody."""

import pytest
from websockets.exceptions import InvalidStatus

from server.gateway import Peer
from tests.gateway.rig import Echo, Notes, Rig


class Wall(Notes):
    """Shows something and heeds nothing."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        peer.send(b"a poster")


async def test_a_websocket_at_such_a_path_gets_the_handler_of_that_path(rig: Rig) -> None:
    await rig.start(Echo, stands={"/t/CUP/live": Wall})
    async with rig.connect("/t/CUP/live") as wall, rig.connect() as player:
        assert await wall.recv() == b"a poster"
        await player.send(b"a move")
        assert await player.recv() == b"a move"
    assert [type(handler) for handler in rig.handlers] == [Wall, Echo]


async def test_where_nothing_stands_there_is_no_websocket(rig: Rig) -> None:
    await rig.start(Echo, stands={"/t/CUP/live": Wall})
    with pytest.raises(InvalidStatus) as refused:
        await rig.connect("/t/OTHER/live")
    assert refused.value.response.status_code == 404
    assert rig.gateway.tally().refused == {"path": 1}


async def test_pages_of_any_origin_may_show_what_stands_there_and_play_no_more_than_before(
    rig: Rig,
) -> None:
    await rig.start(Echo, stands={"/t/CUP/live": Wall}, origins=["https://play.example"])
    async with rig.connect("/t/CUP/live", origin="https://club.example") as wall:
        assert await wall.recv() == b"a poster"
    with pytest.raises(InvalidStatus):
        await rig.connect(origin="https://club.example")


async def test_the_limits_of_connections_hold_there_too(rig: Rig) -> None:
    await rig.start(Echo, stands={"/t/CUP/live": Wall}, connections_per_address=1)
    async with rig.connect("/t/CUP/live"):
        with pytest.raises(InvalidStatus) as refused:
            await rig.connect()
    assert refused.value.response.status_code == 503
