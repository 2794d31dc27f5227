"""Requests off the hot path, while the store they go to is replaced by another one."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import redis

from server.store.address import Address
from server.store.client import Client, fixed
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


async def test_a_line_that_is_closed_before_a_request_is_written_is_a_broken_line(
    tmp_path: Path,
) -> None:
    with ValkeyProcess("store", tmp_path) as store:
        await store.start()
        client = Client(fixed(Address(host=HOST, port=store.port)))
        line: Any = client._pool.make_connection()  # type: ignore[no-untyped-call]
        await line.connect()
        writing = asyncio.create_task(line.send_packed_command([b"PING\r\n"]))
        await asyncio.sleep(0)  # the writing has a task of its own by now
        writer, line._writer = line._writer, None  # as at the end of a disconnect
        with pytest.raises(redis.ConnectionError):
            await writing
        writer.close()
        await writer.wait_closed()
        await client.close()
