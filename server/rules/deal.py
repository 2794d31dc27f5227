"""The fair deal, version 1: from a secret or a seed to a layout (docs/fairness.md).

Nothing here draws random numbers: whoever makes a deal brings 32 bytes of the system's
generator along.
"""

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from typing import TypeVar

from server.rules.cards import EMPTY, Card, full_pack
from server.rules.piles import Column
from server.rules.position import Position
from server.rules.variant import Rules

SECRET_BYTES = 32
MAX_SALT_BYTES = 64
_WORDS = 2**32

T = TypeVar("T")


def commitment(deal_id: str, secret: bytes) -> bytes:
    """Returns what is published before anyone joins: 32 bytes that fix the secret."""
    _check_secret(secret)
    return hashlib.sha256(b"dk-commit/1" + deal_id.encode() + secret).digest()


def fair_key(secret: bytes, deal_id: str, rules_text: str, salts: Sequence[bytes]) -> bytes:
    """Returns the 32 bytes of a fair deal's key; `salts` are the players' own, in seat order."""
    _check_secret(secret)
    if any(len(salt) > MAX_SALT_BYTES for salt in salts):
        raise ValueError(f"a player's own bytes are {MAX_SALT_BYTES} at most")
    parts = [b"dk-deal/1", _prefixed(deal_id.encode()), _prefixed(rules_text.encode())]
    parts += [len(salts).to_bytes(4, "big"), *map(_prefixed, salts)]
    return hmac.digest(secret, b"".join(parts), "sha256")


def public_key(seed: str) -> bytes:
    """Returns the 32 bytes of a public seed's key."""
    return hmac.digest(b"dk-public/1", seed.encode(), "sha256")


def layout(rules: Rules, key: bytes) -> Position:
    """Returns the position that a key deals."""
    pack = full_pack(rules.decks)
    shuffle(pack, key)
    columns: list[list[Card]] = [[] for _ in rules.sizes]
    cards = iter(pack)
    for row in range(max(rules.sizes)):
        for column, size in zip(columns, rules.sizes, strict=True):
            if row < size:
                column.append(next(cards))
    return Position(
        rules=rules,
        hand=tuple(cards),
        waste=(),
        foundations=(EMPTY,) * rules.foundations,
        columns=tuple(Column(tuple(column[:-1]), (column[-1],), 1) for column in columns),
        turn=1,
    )


def deal(rules: Rules, seed: str) -> Position:
    """Returns the layout of a public seed."""
    return layout(rules, public_key(seed))


def shuffle(items: list[T], key: bytes) -> None:
    """Shuffles in place by Fisher and Yates, driven by the stream of a 32-byte key."""
    words = _words(key)
    for last in range(len(items) - 1, 0, -1):
        choices = last + 1
        bound = _WORDS - _WORDS % choices  # words from here on would favour the low indices
        word = next(word for word in words if word < bound)
        other = word % choices
        items[last], items[other] = items[other], items[last]


def _check_secret(secret: bytes) -> None:
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"the secret of a deal is {SECRET_BYTES} bytes, not {len(secret)}")


def _prefixed(part: bytes) -> bytes:
    return len(part).to_bytes(4, "big") + part


def _words(key: bytes) -> Iterator[int]:
    block = 0
    while True:
        stream = hmac.digest(key, block.to_bytes(8, "big"), "sha256")
        for at in range(0, len(stream), 4):
            yield int.from_bytes(stream[at : at + 4], "big")
        block += 1
