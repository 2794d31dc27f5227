"""`make faults`: races through a storm of faults, and the four figures that have to be zero.

First everything goes wrong that can, on one store. Then the masters of a Cluster die one after
the other, and those that Sentinels watch, with many small rooms on them.
"""

import argparse
import asyncio
import logging
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import SystemRandom

from tests.faults.failover import ClusteredFleet, WatchedFleet
from tests.faults.storm import Storm
from tests.faults.succession import Succession

PARTS = ("store", "cluster", "sentinel")
SECONDS = {"store": 225.0, "cluster": 45.0, "sentinel": 45.0}
# Longer than a node waits for an answer, so that all have left a master before another
# takes over: one that wakes up again then has nobody to tell what nobody will know.
DOWN_AFTER_MS = 3_500
ROOMS = {"cluster": 50, "sentinel": 20}


def main() -> int:
    """Runs the parts; 0 if nothing was lost, doubled, wrong or without an end."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seed", type=int, help="of the schedule; drawn by chance without it")
    parser.add_argument("--part", choices=PARTS, help="this one alone")
    parser.add_argument("--seconds", type=float, help="how long faults come, in each part")
    parser.add_argument("--per-second", type=float, default=1.2, help="faults, on the average")
    parser.add_argument("--rooms", type=int, help="at once, where masters die")
    parser.add_argument("--verbose", action="store_true", help="say each fault and each race")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else SystemRandom().randrange(1_000_000)
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # lines that break are its business
    if options.verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
        logging.getLogger("websockets").setLevel(logging.WARNING)
    folder = Path(tempfile.mkdtemp(prefix="dk-faults-"))
    began = time.monotonic()
    chosen: Sequence[str] = (options.part,) if options.part else PARTS
    good = [run(part, folder, seed, options) for part in chosen]
    print(f"seed {seed}, {time.monotonic() - began:.0f} s in all")
    if all(good):
        shutil.rmtree(folder)
        return 0
    print(f"logs and the stores' data are in {folder}; run again with --seed {seed}")
    return 1


def run(part: str, folder: Path, seed: int, options: argparse.Namespace) -> bool:
    """Runs one part and prints its figures; whether they are good."""
    place = folder / part
    place.mkdir()
    seconds = options.seconds or SECONDS[part]
    if part == "store":
        print(f"one store: seed {seed}, {seconds:g} s of faults, 3 nodes", flush=True)
        figures = asyncio.run(Storm(place, seed, seconds, options.per_second).run())
        print("\n".join(figures.lines()), flush=True)
        return figures.is_good
    rooms = options.rooms or ROOMS[part]
    what = "a Cluster of three masters" if part == "cluster" else "a master and three Sentinels"
    print(f"{what}: seed {seed}, {seconds:g} s of deaths, {rooms} rooms, 3 nodes", flush=True)
    fleet = (
        ClusteredFleet(place)
        if part == "cluster"
        else WatchedFleet(place, down_after_ms=DOWN_AFTER_MS)
    )
    succession = Succession(fleet, seed, seconds, rooms)
    asyncio.run(succession.run())
    print("\n".join(succession.lines()), flush=True)
    return succession.figures.is_sound


if __name__ == "__main__":
    sys.exit(main())
