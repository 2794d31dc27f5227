"""The secrets that deals are made from, kept until they are revealed."""

from server.store import keys
from server.store.pool import Pool


class Deals:
    """Keeps one secret for each deal; the first one counts."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def keep(self, deal_id: str, secret: bytes, ttl_s: int = keys.DEAL_S) -> bytes:
        """Keep a deal's secret unless it has one; return the one that counts.

        Raises:
            Unavailable: the store does not answer.
        """
        earlier: bytes | None = await self._pool.ask(
            "SET", keys.deal(deal_id), secret, "NX", "GET", "EX", ttl_s
        )
        return secret if earlier is None else earlier

    async def renew(self, deal_id: str, secret: bytes, ttl_s: int = keys.DEAL_S) -> None:
        """Keep the secret that counts for longer, even if it is gone; errors as in `keep`."""
        await self._pool.ask("SET", keys.deal(deal_id), secret, "EX", ttl_s)

    async def secret(self, deal_id: str) -> bytes | None:
        """Read the secret of a deal; None if there is none (any more); errors as in `keep`."""
        secret: bytes | None = await self._pool.ask("GET", keys.deal(deal_id))
        return secret
