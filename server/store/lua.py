"""The scripts that run inside the store; each says what it does at the head of its file."""

import hashlib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Script:
    """One script and the name under which a store that has seen it knows it."""

    name: str
    text: bytes
    sha: str


def _load(name: str) -> Script:
    text = (files("server.store") / "scripts" / f"{name}.lua").read_bytes()
    # The store's own name for a script is the SHA-1 of its text.
    return Script(name, text, hashlib.sha1(text, usedforsecurity=False).hexdigest())


APPEND = _load("append")
ACT = _load("act")
ATTACH = _load("attach")
CLAIM = _load("claim")
SETTLE = _load("settle")
ENROL = _load("enrol")
CONNECT = _load("connect")
AMEND = _load("amend")
ENGAGE = _load("engage")
RATE = _load("rate")
RENEW = _load("renew")
