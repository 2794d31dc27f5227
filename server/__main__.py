"""Runs `klondike-server` as `python -m server`."""

from server.cli import main

main(prog_name="klondike-server")
