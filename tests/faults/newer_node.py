"""A node of the next version: the rooms it opens have a format that today's cannot read."""

from server import events
from server.cli import main

events.FORMAT += 1

if __name__ == "__main__":
    main()
