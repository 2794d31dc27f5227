"""How a Cluster shares its slots, as one of its members says."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from redis.crc import key_slot

SLOTS = 16_384

Place = tuple[str, int]  # host and port


@lru_cache(maxsize=16_384)
def slot_of(key: str) -> int:
    """Give the slot of a key or of a channel."""
    return key_slot(key.encode())


@dataclass(frozen=True, slots=True)
class View:
    """The members of a Cluster and the slots of its masters, as one member sees them."""

    is_whole: bool  # it sees most masters, and serves
    epoch: int  # grows with every failover
    masters: dict[Place, list[range]]
    replicas: frozenset[Place]

    @property
    def rank(self) -> tuple[bool, int]:
        """Give what tells the better of two views: a member that is cut off sees the past."""
        return self.is_whole, self.epoch


def read_view(slots: Any, info: Any, asked: Place) -> View:
    """Read the answers to CLUSTER SLOTS and CLUSTER INFO of the member at `asked`."""
    masters: dict[Place, list[range]] = {}
    replicas: set[Place] = set()
    for first, last, master, *others in slots:
        masters.setdefault(_place(master, asked), []).append(range(first, last + 1))
        replicas.update(_place(other, asked) for other in others)
    said = _pairs(info)
    return View(
        is_whole=said.get("cluster_state") == "ok",
        epoch=int(said.get("cluster_current_epoch", 0)),
        masters=masters,
        replicas=frozenset(replicas),
    )


def is_ok(info: Any) -> bool:
    """Tell from the answer to CLUSTER INFO whether the member serves its slots."""
    return _pairs(info).get("cluster_state") == "ok"


def _pairs(info: Any) -> dict[str, str]:
    text = info[1] if isinstance(info, list) else info  # a verbatim string has its kind first
    return dict(line.split(":", 1) for line in text.decode().splitlines() if ":" in line)


def _place(node: Any, asked: Place) -> Place:
    host, port = node[0], node[1]
    # A member that does not know its own name is where it was asked.
    return (host.decode() if host and host != b"?" else asked[0]), int(port)
