"""Imports go one way: client → wire ← server, and down through the server's own layers.

The tables are the architecture. A new module takes a line here, in which it says what it may
import; whatever the tables do not allow fails.
"""

from collections.abc import Iterable
from functools import cache

import grimp
import pytest

PACKAGES = ("wire", "server", "client")

# Parts from the bottom up: each with the parts it may import, all of them further up in this
# table, so that no circle can be written. A package below `server` is one part.
MAY_IMPORT: dict[str, str] = {
    "wire": "",
    "client": "wire",
    # On their own
    "server.rules": "",
    "server.reasons": "",
    "server.store": "server.reasons",
    "server.rate": "",
    "server.gateway": "wire server.rate",
    "server.refusal": "",
    "server.journaling": "",
    "server.patience": "wire server.refusal",
    "server.version": "",
    "server.tally": "",
    "server.password": "",
    "server.presence": "",
    "server.logs": "",
    "server.tasks": "",
    "server.codes": "",
    "server.aside": "",
    # Pure: what a race is
    "server.events": "wire server.journaling",
    "server.racer": "wire server.rules",
    "server.permissions": "wire",
    "server.race": "wire server.events server.permissions server.racer server.rules",
    "server.referee": "server.events server.permissions server.race server.racer server.refusal"
    " server.rules",
    "server.standings": "wire server.race server.racer",
    "server.view": "wire server.events server.race server.racer server.rules server.standings",
    "server.auditor": "server.events server.race server.referee server.refusal server.rules",
    "server.verify": "wire server.auditor server.events server.race server.rules server.standings",
    "server.session": "wire server.rate",
    "server.tournament": "wire server.journaling server.refusal server.rules",
    "server.herald": "server.tournament",
    "server.outward": "",
    "server.results": "server.race server.standings server.tournament",
    "server.recount": "wire server.journaling server.race server.refusal server.results"
    " server.tournament server.verify",
    # Rooms over the store
    "server.audience": "wire server.events server.race server.view",
    "server.lag": "wire server.audience server.race server.store",
    "server.follower": "server.patience server.refusal server.store server.tally",
    "server.holding": "server.follower",
    "server.summary": "server.events server.race server.racer server.referee server.store",
    "server.judge": "server.race server.rules",
    "server.plays": "wire server.audience server.events server.follower server.patience"
    " server.race server.referee server.refusal server.store server.summary server.tally"
    " server.view",
    "server.room": "wire server.audience server.events server.follower server.judge server.lag"
    " server.password server.plays server.presence server.race server.referee server.refusal"
    " server.store server.summary server.tally",
    "server.rooms": "wire server.codes server.events server.holding server.password server.patience server.race"
    " server.referee"
    " server.refusal server.room server.rules server.store server.summary server.tally",
    # Tournaments over the store and over rooms
    "server.bulletin": "wire server.tournament",
    "server.hall": "wire server.bulletin server.follower server.presence server.refusal"
    " server.store server.tally server.tournament",
    "server.halls": "wire server.codes server.hall server.holding server.journaling server.patience"
    " server.refusal server.store server.tally server.tournament",
    "server.arranging": "server.events server.race server.refusal server.rules server.store"
    " server.summary",
    "server.ladder": "wire server.refusal server.rules server.store server.tournament",
    "server.uptime": "server.store",
    "server.reminder": "server.store server.tasks",
    "server.steward": "server.arranging server.events server.hall server.race server.referee"
    " server.refusal server.results server.room server.rooms server.store server.tournament"
    " server.uptime",
    "server.director": "server.aside server.codes server.hall server.halls server.ladder"
    " server.presence server.refusal server.steward server.store server.tally server.tournament"
    " server.uptime",
    # What is shown of tournaments, and what is asked of them
    "server.directing": "wire server.refusal server.rules server.tournament",
    "server.guestbook": "wire server.bulletin server.hall server.refusal server.store"
    " server.tournament",
    "server.gallery": "wire server.bulletin server.hall server.refusal server.rules server.store"
    " server.tournament",
    "server.foyer": "server.director server.gallery server.guestbook server.hall server.halls"
    " server.refusal server.steward server.store server.tournament",
    "server.webhooks": "server.herald server.journaling server.outward server.refusal"
    " server.store server.tally server.version",
    "server.attendance": "wire server.bulletin server.codes server.directing server.director"
    " server.foyer server.gallery server.hall server.halls server.ladder server.refusal"
    " server.store server.tournament server.webhooks",
    # The process
    "server.timekeeper": "server.refusal server.store server.tally server.tasks",
    "server.stay": "wire server.audience server.codes server.events server.follower server.race"
    " server.referee server.refusal server.room server.rooms server.session server.store"
    " server.view",
    "server.connection": "wire server.attendance server.follower server.gateway server.patience"
    " server.refusal server.rooms server.session server.stay server.store server.tally"
    " server.version",
    "server.metrics": "server.gateway server.tally",
    "server.pages": "server.gateway server.metrics server.version",
    "server.public": "wire server.bulletin server.foyer server.gateway server.halls"
    " server.refusal server.store server.tournament",
    "server.config": "server.gateway server.reasons",
    "server.private": "server.config server.store",
    "server.app": "server.aside server.attendance server.config server.connection server.director server.foyer"
    " server.gateway server.halls server.ladder server.metrics server.pages server.private"
    " server.public server.rate server.reminder server.rooms server.steward server.store server.tally server.tasks server.timekeeper"
    " server.uptime server.version server.webhooks",
    "server.streams": "server.config",
    "server.signals": "",
    "server.workers": "server.config server.private server.signals server.store server.streams",
    "server.cli": "server.app server.config server.logs server.reasons server.signals server.store"
    " server.streams server.verify server.version server.workers",
    "server.__main__": "server.cli",
}

# Modules, or packages whole, that alone may import a package from outside.
ONLY_FOR: dict[str, str] = {
    "redis": "server.store",
    "hiredis": "server.store",
    "websockets": "server.gateway client.link client.loss",
    "msgpack": "wire.codec",
    "curses": "client.screen client.terminal",
    "prometheus_client": "server.metrics server.pages",
    "pythonjsonlogger": "server.logs",
    "uvloop": "server.cli server.workers",
    "click": "server.cli client.archive client.cli client.options client.whoami client.tournament.acting"
    " client.tournament.cli client.tournament.errand client.tournament.menu"
    " client.tournament.papers client.tournament.showing client.tournament.taking",
    "rustworkx": "server.tournament.pairing.matching",
    "py4swiss": "server.tournament.pairing.dutch",
    "openskill": "server.tournament.rating",
    "httpx": "server.webhooks",
    "jinja2": "server.public.render",
    "markupsafe": "server.public.render",
}

# What is pure takes time, chance and I/O as values.
PURE = [
    "wire",
    "server.rules",
    "server.events",
    "server.race",
    "server.referee",
    "server.auditor",
    "server.standings",
    "server.results",
    "server.view",
    "server.session",
    "server.refusal",
    "server.journaling",
    "server.tournament",
    "server.herald",
    "server.recount.journal",
    "server.public.figures",
    "server.public.layout",
    "server.public.rows",
    "server.public.sheet",
    "server.public.words",
    "client.attention",
    "client.model",
    "client.paint",
    "client.plays",
    "client.desk",
    "client.keys",
    "client.movekeys",
    "client.putout",
    "client.clock",
    "client.doubt",
    "client.cards",
    "client.cells",
    "client.canvas",
    "client.printer",
    "client.passing",
    "client.fairness",
    "client.lists",
    "client.tournament.bracket",
    "client.tournament.hall",
    "client.tournament.ledger",
    "client.tournament.pages",
    "client.tournament.tour",
    "client.tournament.scene",
    "client.tournament.sheets",
]
IMPURE = [
    "asyncio",
    "curses",
    "hiredis",
    "http",
    "io",
    "logging",
    "multiprocessing",
    "os",
    "pathlib",
    "random",
    "redis",
    "secrets",
    "select",
    "selectors",
    "signal",
    "socket",
    "ssl",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
    "time",
    "uvloop",
    "websockets",
]

Arrow = tuple[str, str]


@cache
def arrows() -> frozenset[Arrow]:
    """Every import there is: (module, module of ours or package from outside)."""
    graph = grimp.build_graph(*PACKAGES, include_external_packages=True, cache_dir=None)
    return frozenset(
        (module, imported)
        for module in graph.modules
        if is_below(module, PACKAGES)
        for imported in graph.find_modules_directly_imported_by(module)
    )


def modules() -> list[str]:
    """Every module of ours."""
    return sorted(grimp.build_graph(*PACKAGES, cache_dir=None).modules)


def is_below(module: str, parts: Iterable[str]) -> bool:
    """Whether a module is one of some parts or inside one."""
    return any(module == part or module.startswith(f"{part}.") for part in parts)


def part_of(module: str) -> str:
    """The part that a module belongs to; the package `server` itself belongs to none."""
    names = module.split(".")
    return ".".join(names[:2]) if names[0] == "server" else names[0]


def strays(found: Iterable[Arrow]) -> set[Arrow]:
    """The arrows between parts that the first table does not allow."""
    between = {(part_of(a), part_of(b)) for a, b in found if is_below(b, PACKAGES)}
    return {(a, b) for a, b in between if a != b and b not in MAY_IMPORT.get(a, "").split()}


def trespasses(found: Iterable[Arrow]) -> set[Arrow]:
    """The arrows to packages from outside that the second table keeps for others."""
    return {
        (module, imported)
        for module, imported in found
        if imported in ONLY_FOR and not is_below(module, ONLY_FOR[imported].split())
    }


def impurities(found: Iterable[Arrow]) -> set[Arrow]:
    """The arrows from what is pure to time, chance and I/O."""
    return {(a, b) for a, b in found if is_below(a, PURE) and b in IMPURE}


def test_every_import_between_our_parts_is_in_the_table() -> None:
    assert strays(arrows()) == set()


def test_every_part_has_its_line_in_the_table() -> None:
    parts = {part_of(module) for module in modules()} - {"server"}
    assert parts - MAY_IMPORT.keys() == set()


def test_no_part_imports_one_further_down_in_the_table() -> None:
    known: set[str] = set()
    for part, allowed in MAY_IMPORT.items():
        assert set(allowed.split()) <= known, f"{part} would import what stands below it"
        known.add(part)


def test_packages_from_outside_are_imported_by_their_one_owner_alone() -> None:
    assert trespasses(arrows()) == set()


def test_what_is_pure_knows_no_clock_no_chance_and_no_input_or_output() -> None:
    assert impurities(arrows()) == set()


@pytest.mark.parametrize(
    ("arrow", "check"),
    [
        (("client.model", "server.rules"), strays),
        (("wire.codec", "client.link"), strays),
        (("server.rules.deal", "server.store.keys"), strays),
        (("server.race", "server.store"), strays),
        (("server.store.journal", "server.events"), strays),
        (("server.session", "server.gateway"), strays),
        (("server.unheard_of", "wire"), strays),
        (("server.room", "redis"), trespasses),
        (("server.connection", "websockets"), trespasses),
        (("client.model", "curses"), trespasses),
        (("server.race", "asyncio"), impurities),
        (("server.rules.deal", "random"), impurities),
    ],
)
def test_an_arrow_that_must_not_be_is_noticed(arrow: Arrow, check: object) -> None:
    assert callable(check)
    assert check([arrow])


def test_the_walk_sees_the_imports_that_there_are() -> None:
    assert ("server.race", "server.rules") in arrows()
    assert ("wire.codec", "msgpack") in arrows()
