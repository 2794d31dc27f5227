"""Where the master is, as the Sentinels that watch it say.

All of them are asked, and the one with the newest configuration is believed: one that was
cut off from the others may still name a master that has been replaced.
"""

import asyncio

from server.store.address import Address, Site
from server.store.client import Client, Refused, fixed
from server.store.connection import Connection
from server.store.errors import StoreError, Unavailable, Unfit
from server.store.survey import survey


class Sentinels:
    """The Sentinels of one master."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._clients = [Client(fixed(door)) for door in site.doors]

    async def where(self) -> Address:
        """Ask where the master is now.

        Raises:
            Unavailable: none of them answers.
            Unfit: those that answer know no such master, or let nobody in.
        """
        named, errors = await survey(self._ask(client) for client in self._clients)
        if not named:
            raise self._failure(errors)
        _, host, port = max(named)
        return self._site.master.at(host, port)

    async def _ask(self, client: Client) -> tuple[int, str, int]:
        """Give the epoch of a Sentinel's configuration, and the master's host and port."""
        reply = await client.ask("SENTINEL", "MASTER", self._site.name)
        said = {name.decode(): value.decode() for name, value in reply.items()}
        return int(said["config-epoch"]), said["ip"], int(said["port"])

    def _failure(self, errors: list[Exception]) -> StoreError:
        refused = next((error for error in errors if isinstance(error, Refused)), None)
        doors = ", ".join(door.label() for door in self._site.doors)
        if refused is not None:
            return Unfit(f"the Sentinels {doors}, asked for {self._site.name}: {refused}")
        return Unavailable(f"none of the Sentinels {doors} answers")

    @staticmethod
    async def look_at_role(connection: Connection) -> None:
        """Make sure of a master.

        Raises:
            ConnectionError: it is a replica by now, or not yet a master.
        """
        role = (await connection.ask("ROLE"))[0]
        if role != b"master":
            raise ConnectionError(f"it is a {role.decode()}, no master")

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(client.close() for client in self._clients))
