"""Processes of this machine, as the tests and the benches look at them."""

import psutil


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and only waits to be collected does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def children(pid: int, *, all_below: bool = False) -> set[int]:
    """The processes that a process has started, or all below those too."""
    return {child.pid for child in psutil.Process(pid).children(recursive=all_below)}


def command_line(pid: int) -> list[str]:
    """What a process was started with; nothing of one that has ended."""
    try:
        return psutil.Process(pid).cmdline()
    except psutil.NoSuchProcess:
        return []


def resident(pid: int) -> int:
    """What a process holds in memory, in bytes."""
    return int(psutil.Process(pid).memory_info().rss)


def cpu_s(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)
