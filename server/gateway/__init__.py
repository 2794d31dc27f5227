"""The sockets: websockets and plain HTTP on one port. Nothing else imports websockets."""

from server.gateway.gateway import Gateway
from server.gateway.limits import Limits
from server.gateway.pages import Answer, PageRequest
from server.gateway.peer import Peer
from server.gateway.register import Handler, Tally

__all__ = ["Answer", "Gateway", "Handler", "Limits", "PageRequest", "Peer", "Tally"]
