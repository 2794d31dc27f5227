"""Room passwords as they are kept: salted and stretched, never in the journal."""

import asyncio
import hashlib
import hmac
import secrets

_COST = 2**12  # about 10 ms; a room's password guards a game for an hour


def _stretch(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=_COST, r=8, p=1, dklen=32)


async def seal(password: str) -> str:
    """Give the text to keep for a password; empty for none."""
    if not password:
        return ""
    salt = secrets.token_bytes(16)
    return f"{salt.hex()}:{(await asyncio.to_thread(_stretch, password, salt)).hex()}"


async def is_right(password: str, sealed: str) -> bool:
    """Whether a password fits what was kept."""
    if not sealed:
        return True
    salt, _, kept = sealed.partition(":")
    tried = await asyncio.to_thread(_stretch, password, bytes.fromhex(salt))
    return hmac.compare_digest(tried.hex(), kept)
