"""Tie-breaks against tiebreak-core, an independent implementation of the same FIDE edition."""

import random

import pytest
from tiebreak_core import (
    GameRecord,
    PlayerTiebreakData,
    calculate_all_strict,
    rank_standings_strict,
)

from server.tournament.tiebreak import Game, Kind, rank, tiebreaks

RULESET = "fide-2026"
SAME = {
    "buchholz": "buchholz",
    "buchholz-cut1": "buchholz_cut1",
    "buchholz-cut2": "buchholz_cut2",
    "median1": "median_buchholz",
    "median2": "median_buchholz_2",
    "fore-buchholz": "fore_buchholz",
    "sonneborn-berger": "sonneborn_berger",
    "wins": "wins",
    "games-won": "won",
    "progressive": "progressive",
    "koya": "koya",
}
KINDS: dict[Kind, str] = {
    "played": "played",
    "bye": "pairing_bye",
    "half-bye": "requested_bye",
    "forfeit-win": "forfeit_win",
    "forfeit-loss": "forfeit_loss",
    "absent": "requested_bye",
}

Games = dict[str, list[Game]]


def chance_tournament(chance: random.Random) -> tuple[Games, int]:
    """A tournament with everything in it: draws, byes, forfeits, absences, people leaving."""
    size, rounds = chance.randint(2, 12), chance.randint(3, 9)
    games: Games = {f"p{n:02}": [] for n in range(1, size + 1)}
    gone: set[str] = set()
    for number in range(1, rounds + 1):
        here = []
        for player in games:
            if player in gone or chance.random() < 0.05:
                gone.add(player)
                games[player].append(Game(number, None, 0, "absent"))
            elif chance.random() < 0.1:
                kind: Kind = chance.choice(("half-bye", "absent"))
                games[player].append(Game(number, None, int(kind == "half-bye"), kind))
            else:
                here.append(player)
        chance.shuffle(here)
        if len(here) % 2:
            games[here.pop()].append(Game(number, None, 2, "bye"))
        for a, b in zip(here[::2], here[1::2], strict=True):
            _play(games, number, a, b, chance)
    return games, rounds


def _play(games: Games, number: int, a: str, b: str, chance: random.Random) -> None:
    if chance.random() < 0.1:
        games[a].append(Game(number, b, 2, "forfeit-win"))
        games[b].append(Game(number, a, 0, "forfeit-loss"))
        return
    points = chance.choice((0, 1, 2, 2))
    games[a].append(Game(number, b, points, "played"))
    games[b].append(Game(number, a, 2 - points, "played"))


def theirs(games: Games) -> dict[int, PlayerTiebreakData]:
    """The same tournament in the terms of tiebreak-core."""
    numbers = {player: at for at, player in enumerate(sorted(games), 1)}
    return {
        numbers[player]: PlayerTiebreakData(
            numbers[player],
            1500,
            sum(game.points for game in played) / 2,
            [
                GameRecord(
                    numbers[game.opponent] if game.opponent else -1,
                    1500,
                    game.points / 2,
                    "white",
                    game.round,
                    kind=KINDS[game.kind],
                )
                for game in played
            ],
        )
        for player, played in games.items()
    }


@pytest.mark.parametrize("seed", range(80))
def test_all_values_are_those_of_an_independent_implementation(seed: int) -> None:
    games, rounds = chance_tournament(random.Random(seed))
    ours = tiebreaks(games, list(SAME), rounds=rounds)
    players = theirs(games)
    for number, player in enumerate(sorted(games), 1):
        values = calculate_all_strict(
            players[number], players, list(SAME.values()), total_rounds=rounds, ruleset=RULESET
        )
        assert dict(zip(SAME.values(), ours[player], strict=True)) == values


@pytest.mark.parametrize("seed", range(80))
def test_the_standings_by_direct_encounter_are_those_of_an_independent_implementation(
    seed: int,
) -> None:
    games, rounds = chance_tournament(random.Random(1000 + seed))
    criteria = random.Random(seed).choice(
        (["direct_encounter"], ["wins", "direct_encounter"], ["direct_encounter", "progressive"])
    )
    order = [name.replace("_", "-") for name in criteria]
    numbered = dict(enumerate(sorted(games), 1))
    found = rank_standings_strict(theirs(games), criteria, total_rounds=rounds, ruleset=RULESET)
    assert [player for _, player, _ in rank(games, order, rounds=rounds)] == [
        numbered[result.player_id] for result in found.players
    ]
