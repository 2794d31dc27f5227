"""How a connection begins: to the address, by name and password, with the scripts told."""

import asyncio
from collections.abc import Callable, Sequence

from server.store.address import Address
from server.store.connection import Arg, Connection
from server.store.lua import Script


async def dial(address: Address, make: Callable[[], Connection]) -> Connection:
    """Connect to an address.

    Raises:
        OSError: nobody is there.
    """
    loop = asyncio.get_running_loop()
    if address.path is not None:
        return (await loop.create_unix_connection(make, address.path))[1]
    tls_name = address.host if address.tls else None
    _, connection = await loop.create_connection(
        make, address.host, address.port, ssl=address.tls, server_hostname=tls_name
    )
    return connection


async def greet(connection: Connection, address: Address, scripts: Sequence[Script]) -> None:
    """Say who we are, and tell the scripts.

    Raises:
        ReplyError: the store refuses.
        ConnectionError: the connection died first.
    """
    hello: list[Arg] = ["HELLO", 3]
    if address.password is not None:
        hello += ["AUTH", address.username or "default", address.password]
    await connection.ask(*hello)
    if address.db:
        await connection.ask("SELECT", address.db)
    for script in scripts:  # refused by a store that is still loading its data
        await connection.ask("SCRIPT", "LOAD", script.text)
