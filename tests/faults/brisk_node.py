"""A node that lets go of empty rooms at once, so that a test need not wait for it."""

from server import holding
from server.cli import main

holding.UNLOAD_AFTER_S = 1.0

if __name__ == "__main__":
    main()
