"""The node's figures as Prometheus text."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import fields

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from server.gateway import Gateway
from server.tally import Tally

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_HELP = {
    "moves": "Plays acknowledged, each of them in the journal",
    "refusals": "Requests refused with a reason",
    "bad_frames": "Frames that were no message, or one out of place",
    "room_faults": "Rooms and requests that failed on our side",
    "rollbacks": "Rooms that the store gave back older than they were",
    "races_over": "Races that this node has ended",
    "rooms_opened": "Rooms opened by this node",
    "resumes": "Players led back to their room by their token",
    "replaced": "Connections that gave way to a newer one of the same player",
    "notices_told": "Notices that webhooks have taken",
    "notices_failed": "Notices that webhooks have not taken, each try counted",
}


class NodeCollector(Collector):
    """Reads the plain counters of a node when somebody asks."""

    def __init__(
        self,
        tally: Tally,
        gateway: Gateway,
        rooms: Callable[[], int],
        nodes: Callable[[], int],
        store_up: Callable[[], bool],
        store_refusals: Callable[[], int],
    ) -> None:
        """`rooms` counts the rooms open here, `nodes` those that share the store and live.

        `store_up` tells whether the store answers, `store_refusals` how often it would not
        write what it was given.
        """
        self._tally = tally
        self._gateway = gateway
        self._rooms = rooms
        self._nodes = nodes
        self._store_up = store_up
        self._store_refusals = store_refusals

    def collect(self) -> Iterator[Metric]:
        """Give all metrics."""
        for field in fields(Tally):
            value = getattr(self._tally, field.name)
            yield CounterMetricFamily(f"dk_{field.name}", _HELP[field.name], value=value)
        yield GaugeMetricFamily("dk_rooms_open", "Rooms open on this node", value=self._rooms())
        yield GaugeMetricFamily("dk_nodes", "Nodes on the store, this one too", value=self._nodes())
        yield GaugeMetricFamily("dk_tasks", "Tasks under way", value=len(asyncio.all_tasks()))
        yield GaugeMetricFamily("dk_store_up", "Whether the store answers", value=self._store_up())
        yield CounterMetricFamily(
            "dk_store_refusals",
            "Writes that the store refused: no disk, no memory, too few replicas",
            value=self._store_refusals(),
        )
        yield from self._sockets()

    def _sockets(self) -> Iterator[Metric]:
        tally = self._gateway.tally()
        yield GaugeMetricFamily("dk_connections", "Open websockets", value=tally.open)
        yield GaugeMetricFamily("dk_connections_slow", "Peers that read slowly", value=tally.slow)
        yield CounterMetricFamily("dk_connections_opened", "Websockets opened", value=tally.opened)
        for way in ("in", "out"):
            messages = getattr(tally, f"messages_{way}")
            size = getattr(tally, f"bytes_{way}")
            yield CounterMetricFamily(f"dk_messages_{way}", f"Messages {way}", value=messages)
            yield CounterMetricFamily(f"dk_message_bytes_{way}", f"Bytes {way}", value=size)
        closed = CounterMetricFamily("dk_connections_closed", "Websockets closed", labels=["code"])
        for code, count in sorted(tally.closed.items()):
            closed.add_metric([str(code)], count)
        yield closed
        refused = CounterMetricFamily("dk_connections_refused", "Refused", labels=["reason"])
        for reason, count in sorted(tally.refused.items()):
            refused.add_metric([reason], count)
        yield refused


def registry(collector: NodeCollector) -> CollectorRegistry:
    """Make the registry of one node: its own figures and those of its process."""
    result = CollectorRegistry(auto_describe=False)
    result.register(collector)
    ProcessCollector(registry=result)
    PlatformCollector(registry=result)
    return result


def text(source: CollectorRegistry) -> bytes:
    """Give everything as Prometheus text."""
    return generate_latest(source)
