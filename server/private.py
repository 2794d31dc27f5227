"""The store of a server that was given none: a private one, for as long as the server runs."""

import logging
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from server.config import Config
from server.store import Embedded

log = logging.getLogger("dk.node")


async def store_url(config: Config, stack: AsyncExitStack) -> str:
    """Give the URL of the store to use; a private one is stopped with the stack.

    Raises:
        StoreError: there is no program for one, or it does not start.
    """
    if config.redis is not None:
        return config.redis
    folder = config.data
    if folder is None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="klondike-")))
        log.warning("no --data and no --redis: rooms are gone when this server ends")
    return await stack.enter_async_context(Embedded(folder, fsync=config.fsync))
