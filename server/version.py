"""What this server calls itself."""

from importlib.metadata import version

VERSION = version("double-klondike")
SERVER = f"double-klondike/{VERSION}"
