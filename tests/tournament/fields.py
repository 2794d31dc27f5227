"""Fields to be paired, made by hand or by hypothesis, and whole tournaments played by chance."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from server.tournament.pairing import Contender, Pairing
from server.tournament.pairing.field import DOWN, LEVEL, UP, Float

Pairer = Callable[..., Pairing]


def contender(
    name: str, points: int = 0, seed: int = 1, met: Sequence[str] = (), **more: object
) -> Contender:
    """A contender; `met` names an opponent once for each game."""
    fields: dict[str, object] = {"rating": 1500, "byes": 0} | more
    times = {other: list(met).count(other) for other in met}
    return Contender(id=name, points=points, seed=seed, met=times, **fields)  # type: ignore[arg-type]


def newcomers(count: int) -> list[Contender]:
    """A field before its first round, p1 the best."""
    return [contender(f"p{seed}", seed=seed) for seed in range(1, count + 1)]


@st.composite
def fields(draw: st.DrawFn, largest: int = 8) -> list[Contender]:
    """Any field whose players agree on whom they met."""
    size = draw(st.integers(1, largest))
    names = [f"p{seed}" for seed in range(1, size + 1)]
    met: dict[str, dict[str, int]] = {name: {} for name in names}
    pairs = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :]]
    if pairs:
        for a, b in draw(st.lists(st.sampled_from(pairs), max_size=2 * size)):
            met[a][b] = met[b][a] = met[a].get(b, 0) + 1
    sides = st.sampled_from((DOWN, LEVEL, UP))
    return [
        Contender(
            id=name,
            points=draw(st.integers(0, 4)),
            rating=1500,
            seed=seed,
            met=met[name],
            byes=draw(st.sampled_from((0, 0, 0, 1, 2))),
            late=draw(st.booleans()),
            forfeit_wins=draw(st.sampled_from((0, 0, 0, 1))),
            floats=(draw(sides), LEVEL),
        )
        for seed, name in enumerate(names, 1)
    ]


@st.composite
def fields_with_forbidden(
    draw: st.DrawFn, largest: int = 8
) -> tuple[list[Contender], list[frozenset[str]]]:
    """Any field, and pairs that its organiser forbids."""
    field_ = draw(fields(largest))
    names = [player.id for player in field_]
    pairs = [frozenset((a, b)) for at, a in enumerate(names) for b in names[at + 1 :]]
    few = st.lists(st.sampled_from(pairs), max_size=len(pairs) // 2) if pairs else st.just([])
    return field_, draw(few)


def matchings(names: Sequence[str]) -> Iterator[tuple[list[tuple[str, str]], list[str]]]:
    """Every way to pair names, any number of them left out."""
    if not names:
        yield [], []
        return
    first, rest = names[0], names[1:]
    for pairs, out in matchings(rest):
        yield pairs, [first, *out]
    for at, partner in enumerate(rest):
        for pairs, out in matchings([*rest[:at], *rest[at + 1 :]]):
            yield [(first, partner), *pairs], out


class Played:
    """A tournament of chance results, paired round by round."""

    def __init__(self, pairer: Pairer, size: int, rounds: int, chance: random.Random) -> None:
        """Start with the field before the first round."""
        self.pairer = pairer
        self.rounds = rounds
        self.random = chance
        self.field = newcomers(size)
        self.paired: list[Pairing] = []

    def run(self) -> "Played":
        """Pair and play all rounds."""
        for number in range(1, self.rounds + 1):
            pairing = self.pairer(
                self.random.sample(self.field, len(self.field)),
                round_number=number,
                rounds=self.rounds,
            )
            self.paired.append(pairing)
            self._play(pairing)
        return self

    def _play(self, pairing: Pairing) -> None:
        players = {player.id: player for player in self.field}
        before = dict(players)
        for pair in pairing.pairs:
            won = self.random.choice((0, 1, 2, 2))
            for name, other, points in ((pair.a, pair.b, won), (pair.b, pair.a, 2 - won)):
                met = dict(before[name].met)
                met[other] = met.get(other, 0) + 1
                players[name] = replace(
                    before[name],
                    points=before[name].points + points,
                    met=met,
                    floats=(_float(before[name], before[other]), before[name].floats[0]),
                )
        for name, _ in pairing.byes:
            player = before[name]
            players[name] = replace(
                player,
                points=player.points + 2,
                byes=player.byes + 1,
                floats=(DOWN, player.floats[0]),
            )
        self.field = list(players.values())


def _float(own: Contender, other: Contender) -> Float:
    if own.points == other.points:
        return LEVEL
    return DOWN if own.points > other.points else UP
