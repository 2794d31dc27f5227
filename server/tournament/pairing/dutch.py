"""FIDE Dutch (handbook C.04.3) through py4swiss, for players without colours.

py4swiss reads its players from a report file in which every game has a colour. Here its players
are made directly, with no colour preference, no colour history and the same colour difference:
then C.3 forbids nothing, C.8 to C.11 and the topscorer exception weigh every pair alike, and
who would have white is thrown away. Everything else, floats included, is FIDE's.

The engine's parts are not its documented interface, so its version is bounded in pyproject.toml.
"""

from collections.abc import Collection, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from server.tournament.pairing.field import (
    Contender,
    Pair,
    Pairing,
    by_standing,
    points_text,
)
from server.tournament.pairing.swiss import bye_reason, pair_swiss

if TYPE_CHECKING:
    from py4swiss.engines.dutch.player import Player

TENTHS_PER_HALF_POINT = 5


def is_dutch_available() -> bool:
    """Whether py4swiss is installed: there are platforms it is not built for."""
    return find_spec("py4swiss") is not None


def pair_dutch(
    contenders: Sequence[Contender],
    *,
    round_number: int,
    rounds: int,
    forbidden: Collection[frozenset[str]] = (),
) -> Pairing:
    """Pairs a round by the Dutch system.

    Where its absolute rules leave no pairing at all (every one repeats a match or a bye), the
    round is paired as `pair_swiss` does, and each reason begins by saying so. Raises
    RuntimeError without py4swiss; ask `is_dutch_available` when the tournament is made.
    """
    if not 1 <= round_number <= rounds:
        raise ValueError(f"there is no round {round_number} of {rounds}")
    if not is_dutch_available():
        raise RuntimeError("this server has no Dutch pairing: install py4swiss or choose Swiss")
    field = by_standing(contenders)
    numbers = {c.id: at + 1 for at, c in enumerate(sorted(field, key=_pairing_order))}
    if not forbidden and all(map(_is_new, field)):
        return _pairing(field, _halves(len(field)), numbers)
    found = _engine_pairs(
        [_player(contender, numbers) for contender in field],
        round_number,
        {(numbers[a], numbers[b]) for a, b in map(sorted, forbidden) if {a, b} <= numbers.keys()},
    )
    if found is None:
        return _beyond_dutch(contenders, round_number, rounds, forbidden)
    return _pairing(field, [(a.id, b.id) for a, b in found], numbers)


def _is_new(contender: Contender) -> bool:
    has_played = contender.met or contender.byes or contender.forfeit_wins
    return not (contender.points or has_played or any(contender.floats))


def _halves(players: int) -> list[tuple[int, int]]:
    """Pairs the numbers of players who are all equal, with whom nothing stands against anybody.

    Then the first candidate is perfect (B.6): the upper half meets the lower one in order, and
    the last of an odd field has the bye. The engine comes to the same, in seconds for hundreds.
    """
    half = players // 2
    odd = [(players, players)] if players % 2 else []
    return [*((number, number + half) for number in range(1, half + 1)), *odd]


def _pairing_order(contender: Contender) -> tuple[int, int, str]:
    return contender.seed, -contender.rating, contender.id


def _player(contender: Contender, numbers: dict[str, int]) -> "Player":
    # Loading py4swiss and pydantic takes 0.4 s, which only those pay who pair Dutch.
    from py4swiss.engines.common import (
        ColorPreference,
        ColorPreferenceSide,
        ColorPreferenceStrength,
        Float,
    )
    from py4swiss.engines.dutch.player import Player

    number = numbers[contender.id]
    points = contender.points * TENTHS_PER_HALF_POINT
    return Player(
        id=number,
        number=number,
        points=points,
        points_with_acceleration=points,
        color_preference=ColorPreference(
            side=ColorPreferenceSide.NONE, strength=ColorPreferenceStrength.NONE
        ),
        color_difference=0,
        color_double=False,
        float_1=Float(contender.floats[0]),
        float_2=Float(contender.floats[1]),
        opponents={numbers[other] for other in contender.met if other in numbers},
        colors=[],
        bye_received=bool(contender.byes or contender.forfeit_wins),
        top_scorer=False,
    )


def _engine_pairs(
    players: list["Player"], round_number: int, forbidden: set[tuple[int, int]]
) -> list[tuple["Player", "Player"]] | None:
    """Returns the pairs, a bye as a player with itself, or None if there is no legal pairing."""
    from py4swiss.engines.dutch.bracket import BracketPairer, Brackets
    from py4swiss.engines.dutch.engine import Engine
    from py4swiss.engines.dutch.validity_matcher import ValidityMatcher

    validity = ValidityMatcher(players, forbidden)
    if not validity.is_valid_matching():
        return None
    brackets = Brackets(players, round_number)
    pairs: list[tuple[Player, Player]] = []
    while not brackets.is_finished():
        pairer = BracketPairer(brackets.get_current_bracket(), validity, initial_color=True)
        found = Engine._get_bracket_pairs(pairer)
        if found is None:
            brackets.collapse()
        else:
            brackets.apply_bracket_pairings(found)
            pairs += found
    return pairs


def _pairing(
    field: Sequence[Contender], found: Sequence[tuple[int, int]], numbers: dict[str, int]
) -> Pairing:
    at = {numbers[contender.id]: place for place, contender in enumerate(field)}
    places = sorted(sorted((at[a], at[b])) for a, b in found)
    out = [field[i] for i, j in places if i == j]
    return Pairing(
        tuple(
            Pair(field[i].id, field[j].id, _reason(field[i], field[j])) for i, j in places if i != j
        ),
        tuple((contender.id, bye_reason(contender, out, field)) for contender in out),
    )


def _reason(a: Contender, b: Contender) -> str:
    score = points_text(a.points)
    if a.points == b.points:
        return f"Dutch system: both on {score}"
    return f"Dutch system: {score} floats down to {points_text(b.points)}"


def _beyond_dutch(
    contenders: Sequence[Contender],
    round_number: int,
    rounds: int,
    forbidden: Collection[frozenset[str]],
) -> Pairing:
    paired = pair_swiss(contenders, round_number=round_number, rounds=rounds, forbidden=forbidden)
    says = "the Dutch system has no legal pairing left; "
    return Pairing(
        tuple(Pair(pair.a, pair.b, says + pair.reason) for pair in paired.pairs),
        tuple((player, says + reason) for player, reason in paired.byes),
    )
