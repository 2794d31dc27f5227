"""An echo server on the gateway, for the conformance cases: text as well as binary.

`python -m tests.gateway.echo PORT` serves until it is interrupted.
"""

import asyncio
import sys

import uvloop
from websockets.frames import Frame, Opcode

from server.gateway import Answer, Gateway, Limits, PageRequest, Peer

# The cases send up to 16 MiB, in up to 262,144 fragments, and hundreds of pings at once.
OPEN_WIDE = Limits(
    message_size=16 * 1024 * 1024 + 64,
    fragments=1_000_000,
    messages_per_s=1e6,
    message_burst=1_000_000,
    controls_per_s=1e6,
    control_burst=1_000_000,
    write_high=1024 * 1024,
    write_bound=64 * 1024 * 1024,
    connections_per_address=1_000,
    waiting_per_address=1_000,
)


class EchoPeer(Peer):
    """A peer that takes text too, and returns each message as it came."""

    opcode = Opcode.BINARY

    def accepts(self, opcode: Opcode) -> bool:
        self.opcode = opcode
        return True

    def _message(self, data: bytes) -> None:
        opcode, self.opcode = self.opcode, Opcode.BINARY
        if opcode is Opcode.BINARY:
            super()._message(data)
            return
        try:
            data.decode()
        except UnicodeDecodeError:
            self._fail(1007, "no UTF-8")
        else:
            self._transport.write(Frame(Opcode.TEXT, data).serialize(mask=False))


class Echo:
    """Sends back what it gets."""

    def __init__(self, peer: Peer) -> None:
        self.received = peer.send

    def closed(self, code: int) -> None:
        """Nothing is left to do."""


class EchoGateway(Gateway):
    peer_type = EchoPeer


async def no_page(request: PageRequest) -> Answer | None:
    return None


async def serve(port: int) -> None:
    gateway = EchoGateway(connect=Echo, page=no_page, limits=OPEN_WIDE)
    await gateway.listen("127.0.0.1", port)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
