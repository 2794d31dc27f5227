"""Coverage-guided fuzzing of the strict door: `make fuzz`, which installs atheris.

Arguments are libFuzzer's, such as `-max_total_time=60`. What was learnt stays in `.fuzz/` for
the next run. It stops with an error, and leaves the bytes in `.fuzz/crash-*`, on anything but a
message or a BadFrame, and on bytes that cost more than they may.
"""

import sys
import time
from pathlib import Path

import atheris
import msgpack

with atheris.instrument_imports(include=["wire"]):
    from wire.codec import BadFrame, decode_client, encode

from tests.wire.samples import CLIENT_KINDS, fields_of, message_of
from wire.messages import MAX_CLIENT_FRAME
from wire.values import Settings

FOLDER = Path(".fuzz")
LIMIT_S = 0.25  # of CPU; the costliest frame known takes about a hundredth of that


def check(data: bytes) -> None:
    """Feeds bytes to the strict door; what comes in must go out and come in again the same."""
    began = time.process_time()
    try:
        message = decode_client(data)
    except BadFrame as error:
        if not str(error).isprintable():
            raise AssertionError("a reason that cannot be shown") from error
    else:
        assert decode_client(encode(message)) == message
    assert time.process_time() - began < LIMIT_S


def write_seeds() -> None:
    """Puts a message of each class into the corpus, and the words of the protocol beside it."""
    corpus = FOLDER / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    words = set()
    for kind in CLIENT_KINDS:
        (corpus / kind.__name__.lower()).write_bytes(message_of(kind))
        words |= {kind.__name__.lower(), *(field.name for field in fields_of(kind))}
    words |= {field.name for field in fields_of(Settings)}
    entries = ("".join(f"\\x{byte:02x}" for byte in msgpack.packb(word)) for word in words)
    (FOLDER / "words").write_text("".join(f'"{entry}"\n' for entry in sorted(entries)))


def main() -> None:
    """Runs until the time or the number of runs given on the command line is over."""
    write_seeds()
    options = [
        f"-max_len={MAX_CLIENT_FRAME + 8}",
        f"-dict={FOLDER / 'words'}",
        f"-artifact_prefix={FOLDER}/",
    ]
    atheris.Setup([sys.argv[0], *options, *sys.argv[1:], str(FOLDER / "corpus")], check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
