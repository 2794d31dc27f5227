"""The few things about a frame that the hot path needs to know (RFC 6455, 5.2)."""

from struct import Struct

from websockets.frames import Opcode

try:
    from websockets.speedups import apply_mask
except ImportError:  # a platform without the compiled part
    from websockets.utils import apply_mask

__all__ = ["BINARY_MESSAGE", "LONGEST_HEADER", "MASKED", "apply_mask", "binary", "frame_size"]

BINARY_MESSAGE = 0x80 | Opcode.BINARY  # first byte of a frame that is a whole message
MASKED = 0x80  # in the second byte, beside the size
LONGEST_HEADER = 14

_SHORT = [bytes([BINARY_MESSAGE, size]) for size in range(126)]
_MIDDLE = Struct("!BBH").pack
_LONG = Struct("!BBQ").pack


def binary(data: bytes) -> bytes:
    """Return the frame of one binary message to a client."""
    size = len(data)
    if size < 126:
        return _SHORT[size] + data
    if size < 65_536:
        return _MIDDLE(BINARY_MESSAGE, 126, size) + data
    return _LONG(BINARY_MESSAGE, 127, size) + data


def frame_size(data: bytes, start: int) -> int:
    """Return the size of the frame at `start`, 0 while its header is incomplete."""
    have = len(data) - start
    if have < 2:
        return 0
    second = data[start + 1]
    size = second & 0x7F
    extra = 4 if second & MASKED else 0
    if size < 126:
        return 2 + extra + size
    width = 2 if size == 126 else 8
    if have < 2 + width:
        return 0
    return 2 + width + extra + int.from_bytes(data[start + 2 : start + 2 + width], "big")
