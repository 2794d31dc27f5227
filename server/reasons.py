"""Why the system refuses, in words for people."""

import ssl


def reason_of(error: BaseException) -> str:
    """Give the reason of an error, without the number that the system has for it."""
    if isinstance(error, ConnectionRefusedError):
        return "nobody listens there"
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) and error.strerror:
        return error.strerror
    return str(error)
