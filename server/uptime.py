"""Since when this node has had its whole store without a break.

Of what was before it knows nothing: a store that was away, for this node or for all, or that
took nothing in for want of memory, of a disk or of replicas, let nobody play. So nobody is
blamed for what they did not do then.
"""

from server.store import Store


class Uptime:
    """Watches the lines to the store, from its making on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._since = store.clock.now()
        store.journals.on_state(self._state)

    def _state(self, up: bool) -> None:
        if up:
            self._since = self._store.clock.now()

    def now(self) -> int:
        """Give the instant that it is, by the store's clock."""
        return self._store.clock.now()

    @property
    def since(self) -> int:
        """Give the instant, by the store's clock; now, while a part of the store is away."""
        if not self._store.is_whole:
            return self.now()
        return max(self._since, self._store.refused_at)
