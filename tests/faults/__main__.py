"""`make faults`: races through a storm of faults, and the four figures that have to be zero."""

import argparse
import asyncio
import logging
import shutil
import sys
import tempfile
import time
from pathlib import Path
from random import SystemRandom

from tests.faults.storm import Storm


def main() -> int:
    """Runs a storm; 0 if nothing was lost, doubled, wrong or without an end."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seed", type=int, help="of the schedule; drawn by chance without it")
    parser.add_argument("--seconds", type=float, default=270.0, help="how long faults come")
    parser.add_argument("--per-second", type=float, default=1.0, help="faults, on the average")
    parser.add_argument("--verbose", action="store_true", help="say each fault and each race")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else SystemRandom().randrange(1_000_000)
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # lines that break are its business
    if options.verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
        logging.getLogger("websockets").setLevel(logging.WARNING)
    print(f"seed {seed}, {options.seconds:g} s of faults, 3 nodes", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="dk-faults-"))
    began = time.monotonic()
    figures = asyncio.run(Storm(folder, seed, options.seconds, options.per_second).run())
    print("\n".join(figures.lines()))
    print(f"{time.monotonic() - began:.0f} s in all")
    if figures.is_good:
        shutil.rmtree(folder)
        return 0
    print(f"logs and the store's data are in {folder}; run again with --seed {seed}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
