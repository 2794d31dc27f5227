"""`python -m client` is the command `klondike`."""

from client.cli import main

main()
