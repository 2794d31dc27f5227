"""The plain HTTP pages of a node."""

from collections.abc import Awaitable, Callable

from prometheus_client import CollectorRegistry

from server import metrics
from server.gateway import Answer, Gateway, PageRequest
from server.version import SERVER

_NO_STORE = (("Cache-Control", "no-store"),)


def pages(
    gateway: Callable[[], Gateway],
    store_up: Callable[[], bool],
    source: CollectorRegistry,
    others: Callable[[PageRequest], Awaitable[Answer | None]],
) -> Callable[[PageRequest], Awaitable[Answer | None]]:
    """Give the function that answers page requests; None for an unknown path.

    `others` is asked for the paths that are not known here.
    """

    async def page(request: PageRequest) -> Answer | None:
        match request.path:
            case "/healthz":
                return _line(200, "alive")
            case "/readyz":
                return _ready(gateway().is_draining, store_up())
            case "/metrics":
                return Answer(200, metrics.text(source), metrics.CONTENT_TYPE, _NO_STORE)
            case "/":
                about = "play with the command klondike and this address; tournaments are at /t"
                return _line(200, f"{SERVER}: {about}")
            case _:
                return await others(request)

    return page


def _ready(draining: bool, up: bool) -> Answer:
    if draining:
        return _line(503, "draining")
    return _line(200, "ready") if up else _line(503, "the store does not answer")


def _line(status: int, text: str) -> Answer:
    return Answer(status, text.encode() + b"\n", headers=_NO_STORE)
