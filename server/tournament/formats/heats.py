"""Heats to a final: races of several, from each the best go on, and the next best of all."""

from collections.abc import Sequence

from server.tournament import seeding
from server.tournament.formats.format import Format
from server.tournament.formats.places import ranked
from server.tournament.records import Draft, End, Field, Match, Meeting, Rank
from server.tournament.series import row_key
from server.tournament.settings import Heats

LEAST = 3  # in a heat, where the numbers allow


def heats(order: Sequence[str], size: int) -> tuple[tuple[str, ...], ...]:
    """Deal players in seed order into heats.

    As few as hold them with `size` at most in each; one fewer where that would leave a heat
    of two.
    """
    count = -(-len(order) // size)
    if count > 1 and len(order) // count < LEAST:
        count -= 1
    return seeding.snake(order, -(-len(order) // count))


def _play(field: Field) -> Heats:
    assert isinstance(field.spec.play, Heats)
    return field.spec.play


def _rounds(field: Field) -> list[list[tuple[tuple[str, ...], Match | None]]]:
    """Give the heats of every round as they now must be, with their matches.

    The last round is the one that is to be played or, of one heat, the final. A match whose
    heat is another now is not among them.
    """
    known = {match.slot: match for match in field.matches}
    order: Sequence[str] = field.order
    found: list[list[tuple[tuple[str, ...], Match | None]]] = []
    while order:
        dealt = heats(order, _play(field).size)
        row = []
        for number, heat in enumerate(dealt, 1):
            match = known.get(f"H{len(found) + 1}.{number}")
            row.append((heat, match if match and set(match.entries) == set(heat) else None))
        found.append(row)
        if len(dealt) == 1 or any(match is None or match.is_open for _, match in row):
            break
        order = _going_on(field, [match for _, match in row if match is not None])
    return found


def _going_on(field: Field, matches: Sequence[Match]) -> list[str]:
    """Give who goes on, as the next round's seeds.

    The best of each heat, then the next best of all by place, cards, time if all heats
    raced one deal, and seed. Somebody always goes out, and who gave a heat up never goes on.
    """
    play, seed = _play(field), field.order.index
    shared = _is_shared(matches)
    through: list[str] = []
    rest: list[str] = []
    keys: dict[str, tuple[int, ...]] = {}
    best = min(play.advance, min(len(match.entries) for match in matches) - 1)
    for match in matches:
        keys |= {entry: _key(match, entry, shared) for entry in match.entries}
        stayed = [entry for entry in match.entries if _stayed(match, entry)]
        stayed.sort(key=lambda entry: (keys[entry], seed(entry)))
        through += stayed[:best]
        rest += stayed[best:]
    rest.sort(key=lambda entry: (keys[entry], seed(entry)))
    through += rest[: min(play.best, len(keys) - 1 - len(through))]
    return sorted(through, key=lambda entry: (keys[entry], seed(entry)))


def _is_shared(matches: Sequence[Match]) -> bool:
    return len({tuple(race.deal for race in match.raced) for match in matches}) == 1


def _stayed(match: Match, entry: str) -> bool:
    return match.result is not None and bool(match.result.places) and entry not in match.lost


def _key(match: Match, entry: str, shared: bool) -> tuple[int, ...]:
    place = (match.result.place(entry) if match.result else None) or len(match.entries)
    rows = [row for race in match.raced for row in race.rows if row.p == entry]
    cards = -sum(row.cards for row in rows)
    # Times of different deals do not compare.
    times = [sum(row_key(row)[part] for row in rows) for part in range(4)] if shared else []
    return (place, cards, *times)


def _draft(field: Field) -> Draft | End:
    rounds = _rounds(field)
    if not rounds:
        return End("nobody is left")
    row = rounds[-1]
    if len(row) == 1 and len(row[0][0]) == 1:
        return End("one player is left")
    meetings = tuple(
        Meeting(
            heat,
            _why(len(rounds), number, len(row)),
            f"H{len(rounds)}.{number}",
            tuple(entry for entry in heat if not field.is_in(entry)),
        )
        for number, (heat, match) in enumerate(row, 1)
        if match is None
    )
    return Draft(meetings, group=field.group) if meetings else End("the final is raced")


def _why(number: int, heat: int, count: int) -> str:
    if count == 1:
        return "the final"
    dealt = "dealt by seed" if number == 1 else "dealt by the places of the round before"
    return f"round {number}, heat {heat} of {count}: {dealt}, there and back"


def _stale(field: Field) -> Sequence[Match]:
    valid = {match.id for row in _rounds(field) for _, match in row if match is not None}
    return [match for match in field.matches if match.id not in valid]


def _ranks(field: Field) -> Sequence[Rank]:
    rounds = _rounds(field)
    keys: dict[str, tuple[int, ...]] = dict.fromkeys(field.order, (0,))
    notes: dict[str, tuple[int, str]] = dict.fromkeys(field.order, (0, ""))
    for number, row in enumerate(rounds, 1):
        matches = [match for _, match in row if match is not None]
        shared = _is_shared(matches)
        name = "the final" if len(row) == 1 else f"round {number}"
        for heat, match in row:
            for entry in heat:
                over = match is not None and not match.is_open
                keys[entry] = (-number, *(_place(match, entry, shared) if over else ()))
                notes[entry] = (number, f"in {name}")
    return ranked(keys, field, notes)


def _place(match: Match | None, entry: str, shared: bool) -> tuple[int, ...]:
    assert match is not None
    return (not _stayed(match, entry), *_key(match, entry, shared))


HEATS = Format(name="heats", knock_out=True, draft=_draft, ranks=_ranks, stale=_stale)
