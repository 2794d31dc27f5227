"""The fair deal a second time, from docs/fairness.md alone: own HMAC, own card texts."""

import hashlib
import struct

SUITS = ("C", "D", "H", "S")
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K")


def sha256(data: bytes) -> bytes:
    """Hashes."""
    return hashlib.sha256(data).digest()


def mac(key: bytes, message: bytes) -> bytes:
    """Computes HMAC-SHA256 as RFC 2104 writes it."""
    if len(key) > 64:
        key = sha256(key)
    key = key + bytes(64 - len(key))
    inner = bytes(byte ^ 0x36 for byte in key)
    outer = bytes(byte ^ 0x5C for byte in key)
    return sha256(outer + sha256(inner + message))


def part(data: bytes) -> bytes:
    """Puts the length before the bytes."""
    return struct.pack(">I", len(data)) + data


def commitment(deal_id: str, secret: bytes) -> bytes:
    """Fixes a secret."""
    return sha256(b"dk-commit/1" + deal_id.encode("utf-8") + secret)


def fair_key(secret: bytes, deal_id: str, rules: str, salts: list[bytes]) -> bytes:
    """Makes the key of a fair deal."""
    message = b"dk-deal/1" + part(deal_id.encode("utf-8")) + part(rules.encode("utf-8"))
    message += struct.pack(">I", len(salts))
    for salt in salts:
        message += part(salt)
    return mac(secret, message)


def public_key(seed: str) -> bytes:
    """Makes the key of a public seed."""
    return mac(b"dk-public/1", seed.encode("utf-8"))


def shuffled(decks: int, key: bytes) -> tuple[list[str], int]:
    """Shuffles the pack; tells how many words of the stream were thrown away."""
    pack = [rank + suit for _ in range(decks) for suit in SUITS for rank in RANKS]
    words: list[int] = []
    block = 0
    thrown = 0
    i = len(pack) - 1
    while i > 0:
        if not words:
            words = list(struct.unpack(">8I", mac(key, struct.pack(">Q", block))))
            block += 1
        word = words.pop(0)
        if word >= 2**32 // (i + 1) * (i + 1):
            thrown += 1
            continue
        j = word % (i + 1)
        pack[i], pack[j] = pack[j], pack[i]
        i -= 1
    return pack, thrown


def layout(rules: str, sizes: list[int], decks: int, key: bytes) -> str:
    """Deals row by row and writes the position line."""
    pack, _ = shuffled(decks, key)
    columns: list[list[str]] = [[] for _ in sizes]
    while any(len(column) < size for column, size in zip(columns, sizes, strict=True)):
        row = min(len(c) for c, size in zip(columns, sizes, strict=True) if len(c) < size)
        for column, size in zip(columns, sizes, strict=True):
            if size > row:
                column.append(pack.pop(0))
    shown = ["".join(column[:-1]).lower() + column[-1] for column in columns]
    return " ".join(
        [rules, "1", "".join(pack).lower() or "-", "-", "/".join("-" * 4 * decks), "/".join(shown)]
    )
