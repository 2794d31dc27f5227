"""Double elimination: out with the second loss.

The winners' bracket is that of single elimination. The losers' bracket goes by pairs of
rounds: in a major one its survivors meet, in the minor one after it they meet those who have
just lost in the winners' bracket, laid out so that early rematches are avoided.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from server.tournament.formats.bracket import depth, drops, laid_out, round_name
from server.tournament.formats.elimination import elimination, winners_round
from server.tournament.formats.slots import Box, Source, loser, winner
from server.tournament.records import Field
from server.tournament.settings import Double

_STEP = 2


@lru_cache(maxsize=64)
def boxes(players: int, final: str) -> tuple[Box, ...]:
    """Give the bracket for a number of players, each box after those it draws from."""
    rounds = depth(players)
    losers_rounds = 2 * (rounds - 1)
    made: list[Box] = []
    for number in range(1, rounds + 1):
        made += _winners(rounds, number, last=final == "none" and number == rounds)
        # Of the losers' bracket, what this round makes possible.
        if number == 2:
            made += _first_losers(rounds)
        if number >= 2:
            made += _minor(rounds, number)
        if 2 <= number < rounds:
            made += _major(rounds, number)
    if final != "none":
        made += _finals(rounds, losers_rounds, final)
    elif rounds > 1:
        made[-1] = replace(made[-1], last=True)
    return tuple(replace(box, name=_name(box, rounds)) for box in made)


def _winners(rounds: int, number: int, last: bool) -> Iterator[Box]:
    # A loser plays on below, so that this tier is for those who go out by a void match: just
    # under who loses to this round's losers. A last round stands above all below.
    tier = _STEP * 2 * rounds if last else _STEP * 2 * (number - 1) - 1
    for i, sides in winners_round(rounds, number):
        yield Box(f"W{number}.{i}", "winners", number, i, sides, tier, last)


def _first_losers(rounds: int) -> Iterator[Box]:
    order = laid_out(2 ** (rounds - 1), drops(2**rounds)[0])
    for i in range(1, 2 ** (rounds - 2) + 1):
        sides = (loser(f"W1.{order[2 * i - 2] + 1}"), loser(f"W1.{order[2 * i - 1] + 1}"))
        yield Box(f"L1.{i}", "losers", 1, i, sides, _STEP)


def _minor(rounds: int, number: int) -> Iterator[Box]:
    count = 2 ** (rounds - number)
    order = laid_out(count, drops(2**rounds)[number - 1])
    here = 2 * (number - 1)
    for i in range(1, count + 1):
        sides = (loser(f"W{number}.{order[i - 1] + 1}"), winner(f"L{here - 1}.{i}"))
        yield Box(f"L{here}.{i}", "losers", here, i, sides, _STEP * here)


def _major(rounds: int, number: int) -> Iterator[Box]:
    here = 2 * number - 1
    for i in range(1, 2 ** (rounds - number - 1) + 1):
        sides = (winner(f"L{here - 1}.{2 * i - 1}"), winner(f"L{here - 1}.{2 * i}"))
        yield Box(f"L{here}.{i}", "losers", here, i, sides, _STEP * here)


def _finals(rounds: int, losers_rounds: int, final: str) -> Iterator[Box]:
    # With two players there is no losers' bracket: they meet again.
    challenger = winner(f"L{losers_rounds}.1") if losers_rounds else loser("W1.1")
    sides = (winner(f"W{rounds}.1"), challenger)
    tier = _STEP * (losers_rounds + 1)
    yield Box("F1.1", "final", 1, 1, sides, tier, last=True)
    if final == "reset":
        again = (Source("upset-loser", "F1.1"), Source("upset-winner", "F1.1"))
        yield Box("F2.1", "final", 2, 1, again, tier, last=True)


def _name(box: Box, rounds: int) -> str:
    match box.side:
        case "final":
            return "grand final" if box.round == 1 else "second grand final"
        case "losers":
            last = box.round == 2 * (rounds - 1)
            return "losers' final" if last else f"losers' round {box.round}"
        case _:
            return f"winners' {round_name(2 ** (rounds - box.round))}"


def _boxes(field: Field) -> tuple[Box, ...]:
    assert isinstance(field.spec.play, Double)
    return boxes(len(field.order), field.spec.play.final)


DOUBLE = elimination("double elimination", _boxes, end="the bracket is played")
