"""Requests off the hot path, while the store they go to is replaced by another one."""

import asyncio
from pathlib import Path

import pytest

from server.store.address import Address
from server.store.client import Client
from tests.faults.processes import HOST, ValkeyProcess


@pytest.mark.parametrize("is_open", [True, False], ids=["on its way", "still being connected"])
async def test_what_a_former_master_owes_is_asked_of_the_new_one(
    tmp_path: Path, is_open: bool
) -> None:
    with ValkeyProcess("old", tmp_path) as old, ValkeyProcess("new", tmp_path) as new:
        await old.start()
        await new.start()
        with new.client() as look:
            look.set("k", "v")
        place = [Address(host=HOST, port=old.port)]

        async def where() -> Address:
            return place[0]

        client = Client(where)
        if is_open:
            assert await client.ask("GET", "k") is None
        old.freeze()
        asked = asyncio.create_task(client.ask("GET", "k"))
        await asyncio.sleep(0.2)
        place[0] = Address(host=HOST, port=new.port)
        client.doubt()
        await asyncio.sleep(0.2)
        old.thaw()
        assert await asked == b"v"
        await client.close()
