"""A second referee, written from docs/rules.md alone: slow, plain, and sharing no code.

A game is a dict of lists of card texts. It reads a layout line, lists the legal moves as
texts, plays them, and replays a whole race: the witness against `server.rules`.
"""

import copy
from itertools import pairwise
from typing import Any

Game = dict[str, Any]

ORDER = "A23456789TJQK"
RED = "DH"

PRESETS: dict[str, dict[str, str]] = {
    "double-klondike": {
        "decks": "2",
        "sizes": "1-2-3-4-5-6-7-8-9",
        "draw": "3",
        "passes": "unlimited",
        "build": "alternate",
        "empty": "king",
        "run": "any_suffix",
        "foundation_return": "no",
    }
}
PRESETS["double-klondike-3-pass"] = {**PRESETS["double-klondike"], "passes": "3"}
PRESETS["gargantua"] = {**PRESETS["double-klondike"], "draw": "1", "passes": "2"}
PRESETS["klondike-familiar"] = {
    **PRESETS["double-klondike"],
    "decks": "1",
    "sizes": "1-2-3-4-5-6-7",
}
PRESETS["klondike-strict"] = {
    **PRESETS["klondike-familiar"],
    "draw": "1",
    "passes": "1",
    "run": "full_only",
}
PRESETS["klondike-easy"] = {**PRESETS["klondike-familiar"], "draw": "1"}
PRESETS["thumb-and-pouch"] = {
    **PRESETS["klondike-familiar"],
    "draw": "1",
    "passes": "1",
    "build": "any_other_suit",
    "empty": "any",
    "run": "full_or_top",
}


def read_rules(text: str) -> dict[str, str]:
    """Reads rules text into parameters."""
    name, *overrides = text.split(",")
    rules = dict(PRESETS[name])
    for override in overrides:
        key, value = override.split("=")
        if key == "columns":
            key, value = "sizes", "-".join(str(n + 1) for n in range(int(value)))
        rules[key] = value
    return rules


def read(line: str) -> Game:
    """Reads a position line."""
    name, turn, hand, waste, tops, columns = line.split(" ")
    return {
        "name": name,
        "rules": read_rules(name),
        "turn": int(turn),
        "hand": pairs(hand.upper()),
        "waste": pairs(waste),
        "foundations": [beneath(top) for top in tops.split("/")],
        "down": [
            [card.upper() for card in pairs(column) if card.islower()]
            for column in columns.split("/")
        ],
        "up": [[card for card in pairs(column) if card.isupper()] for column in columns.split("/")],
    }


def pairs(text: str) -> list[str]:
    """Cuts a pile into cards."""
    return [] if text == "-" else [text[at] + text[at + 1] for at in range(0, len(text), 2)]


def beneath(top: str) -> list[str]:
    """Lists a foundation's cards from its top card."""
    return [] if top == "-" else [rank + top[1] for rank in ORDER[: ORDER.index(top[0]) + 1]]


def write(game: Game) -> str:
    """Writes the position line."""
    columns = [
        "".join(down).lower() + "".join(up) or "-"
        for down, up in zip(game["down"], game["up"], strict=True)
    ]
    return " ".join(
        [
            game["name"],
            str(game["turn"]),
            "".join(game["hand"]).lower() or "-",
            "".join(game["waste"]) or "-",
            "/".join(pile[-1] if pile else "-" for pile in game["foundations"]),
            "/".join(columns),
        ]
    )


# --- the rules ------------------------------------------------------------------------


def builds(rules: dict[str, str], card: str, on: str) -> bool:
    """Whether a card goes on another in a column."""
    if ORDER.index(card[0]) + 1 != ORDER.index(on[0]):
        return False
    if rules["build"] == "alternate":
        return (card[1] in RED) != (on[1] in RED)
    return card[1] != on[1]


def column_takes(game: Game, target: int, card: str) -> bool:
    """Whether a column takes a card, or the group below which it lies deepest."""
    pile = game["up"][target]
    if pile:
        return builds(game["rules"], card, pile[-1])
    return game["rules"]["empty"] == "any" or card[0] == "K"


def foundation_for(game: Game, card: str) -> int | None:
    """Finds the leftmost foundation that takes a card."""
    for place, pile in enumerate(game["foundations"]):
        if not pile and card[0] == "A":
            return place
        if pile and pile[-1][1] == card[1] and len(pile) == ORDER.index(card[0]):
            return place
    return None


def may_leave(game: Game, source: int, count: int) -> bool:
    """Whether so many cards of a column may go to another together."""
    pile = game["up"][source]
    group = pile[len(pile) - count :]
    for lower, upper in pairwise(group):
        if not builds(game["rules"], upper, lower):
            return False
    rule: str = game["rules"]["run"]
    return rule == "any_suffix" or count == len(pile) or (rule == "full_or_top" and count == 1)


def moves(game: Game) -> list[str]:
    """Lists every legal move in full."""
    found = []
    if game["hand"] or (game["waste"] and may_redeal(game)):
        found.append("d")
    columns = range(len(game["up"]))
    if game["waste"]:
        card = game["waste"][-1]
        if foundation_for(game, card) is not None:
            found.append("w>f")
        found += [f"w>{target + 1}" for target in columns if column_takes(game, target, card)]
    for source in columns:
        pile = game["up"][source]
        if pile and foundation_for(game, pile[-1]) is not None:
            found.append(f"{source + 1}>f")
        for count in range(1, len(pile) + 1):
            takers = [
                target
                for target in columns
                if target != source and column_takes(game, target, pile[-count])
            ]
            if takers and may_leave(game, source, count):
                found += [f"{source + 1}>{target + 1}:{count}" for target in takers]
    if game["rules"]["foundation_return"] == "yes":
        for place, pile in enumerate(game["foundations"]):
            for target in columns:
                if pile and column_takes(game, target, pile[-1]):
                    found.append(f"f{place + 1}>{target + 1}")
    return found


def may_redeal(game: Game) -> bool:
    """Whether a pass is left."""
    passes: str = game["rules"]["passes"]
    turn: int = game["turn"]
    return passes == "unlimited" or turn < int(passes)


def play(game: Game, move: str) -> None:
    """Plays a full, legal move in place."""
    if move == "d":
        draw(game)
        return
    source, target = move.split(">")
    target, _, count = target.partition(":")
    if source == "w":
        group = [game["waste"].pop()]
    elif source[0] == "f":
        group = [game["foundations"][int(source[1:]) - 1].pop()]
    else:
        group = lift(game, int(source) - 1, int(count or 1))
    if target == "f":
        place = foundation_for(game, group[0])
        assert place is not None
        game["foundations"][place] += group
    else:
        game["up"][int(target) - 1] += group


def draw(game: Game) -> None:
    """Turns a packet, or the waste."""
    if not game["hand"]:
        game["hand"], game["waste"] = game["waste"], []
        game["turn"] += 1
        return
    for _ in range(int(game["rules"]["draw"])):
        if game["hand"]:
            game["waste"].append(game["hand"].pop(0))


def lift(game: Game, source: int, count: int) -> list[str]:
    """Takes cards off a column and turns the next one."""
    pile = game["up"][source]
    group = [pile.pop() for _ in range(count)][::-1]
    if not pile and game["down"][source]:
        pile.append(game["down"][source].pop())
    return group


# --- a whole race ---------------------------------------------------------------------


def replay(layout: str, played: list[str]) -> Game:
    """Plays a list of full moves and "undo" from a layout line.

    Raises:
        ValueError: a move is not legal where it was played, or there is none to undo.
    """
    game = read(layout)
    former: list[Game] = []
    for number, move in enumerate(played, 1):
        if move == "undo":
            if not former:
                raise ValueError(f"play {number}: nothing to undo")
            game = former.pop()
            continue
        if move not in moves(game):
            raise ValueError(f"play {number}: {move} is not legal in {write(game)}")
        former.append(copy.deepcopy(game))
        play(game, move)
    return game


def cards_home(game: Game) -> int:
    """Counts the cards on the foundations."""
    return sum(len(pile) for pile in game["foundations"])


def face_down(game: Game) -> int:
    """Counts the face-down cards of the columns."""
    return sum(len(pile) for pile in game["down"])
