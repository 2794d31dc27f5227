"""The many commands of tournaments, in the order in which an organiser needs them."""

from typing import Final

import click

SECTIONS: Final = {
    "To look": ("list", "show"),
    "Players": ("claim", "enter", "check-in", "withdraw", "rejoin"),
    "Before the start": (
        "create",
        "edit",
        "keys",
        "import",
        "invite",
        "seed",
        "open-check-in",
        "check-in-for",
        "close-check-in",
        "webhook",
        "rehearse",
        "start",
    ),
    "While it runs": (
        "pause",
        "resume",
        "announce",
        "extend",
        "summon",
        "new-token",
        "repair",
        "hold",
        "publish",
        "cancel",
    ),
    "Rulings": (
        "override",
        "restart",
        "void",
        "disqualify",
        "reinstate",
        "remove",
        "readmit",
        "substitute",
    ),
    "Afterwards": ("export", "verify"),
}


class Menu(click.Group):
    """A group whose help lists the commands by what they are for, each with its whole sentence."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        for title, names in SECTIONS.items():
            rows = [(name, _sentence(self.commands[name])) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)


def _sentence(command: click.Command) -> str:
    text = (command.help or "").strip().partition("\n\n")[0]
    return " ".join(text.split())
