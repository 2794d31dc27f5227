"""Lists that are longer than their place: which lines are shown, and that there are more.

Pure. Lines are shown around the selected one, and the player's own is always among them.
"""


def visible(count: int, rows: int, at: int, own: int | None = None) -> list[int]:
    """Give the indices that are shown of so many lines, in order."""
    if rows <= 0 or count <= rows:
        return list(range(count if rows > 0 else 0))
    first = max(0, min(count - rows, at - rows // 2))
    shown = list(range(first, first + rows))
    if own is not None and 0 <= own < count and own not in shown:
        # At the end where it belongs, so that the order stays.
        shown[0 if own < first else -1] = own
    return shown


def more(count: int, shown: int) -> str:
    """Say that a list goes on, "" where it is whole."""
    return f"   {shown} of {count} shown, up/down for more" if shown < count else ""
