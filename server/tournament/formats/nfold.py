"""Elimination with the n-th loss: players with equal losses meet.

Those with equal losses are a bracket. In each round every bracket pairs its players; once
all are down to one, the two lowest meet, and who comes from above has to be beaten as often
as the lives differ. There is no draw to follow: each round is paired from the losses as they
are, so that a ruling changes only what is still to come.
"""

from collections import Counter
from collections.abc import Sequence

from server.tournament.events import Bye
from server.tournament.formats.format import Format
from server.tournament.formats.places import ranked
from server.tournament.formats.swiss import met
from server.tournament.pairing import Contender, pair_swiss
from server.tournament.records import Draft, End, Field, Meeting, Rank
from server.tournament.settings import NFold


def losses(field: Field) -> dict[str, int]:
    """Give everybody's losses; a match void counts as one for both."""
    lost = dict.fromkeys(field.order, 0)
    for match in field.matches:
        if match.result is not None:
            for entry in match.entries:
                lost[entry] += match.result.winner != entry
    return lost


def _limit(field: Field) -> int:
    assert isinstance(field.spec.play, NFold)
    return field.spec.play.losses


def brackets(field: Field) -> dict[int, list[str]]:
    """Give those who are not out, by their losses, each in seed order."""
    lost = losses(field)
    found: dict[int, list[str]] = {}
    for entry in field.active:
        if lost[entry] < _limit(field):
            found.setdefault(lost[entry], []).append(entry)
    return dict(sorted(found.items()))


def _draft(field: Field) -> Draft | End:
    groups = brackets(field)
    if sum(map(len, groups.values())) < 2:
        return End("one player is left")
    meetings: list[Meeting] = []
    byes: list[Bye] = []
    for lost, group in groups.items():
        if len(group) > 1:
            _pair(field, lost, group, meetings, byes)
    if not meetings:
        (above, (a,)), (below, (b,)) = list(groups.items())[-2:]
        why = f"the last with {_text(above)} against the last with {_text(below)}"
        meetings.append(Meeting((a, b), why))
    byes += [
        Bye(p=group[0], why=f"waits: the last with {_text(lost)}", kind="none")
        for lost, group in groups.items()
        if len(group) == 1 and group[0] not in meetings[-1].entries
    ]
    return Draft(tuple(meetings), tuple(byes), field.group)


def _text(lost: int) -> str:
    return "no loss" if lost == 0 else "one loss" if lost == 1 else f"{lost} losses"


def _pair(
    field: Field, lost: int, group: Sequence[str], meetings: list[Meeting], byes: list[Bye]
) -> None:
    pairing = pair_swiss(_contenders(field, group), round_number=1, rounds=1)
    for pair in pairing.pairs:
        again = ", again: all others of them have met" if _have_met(field, pair.a, pair.b) else ""
        meetings.append(Meeting((pair.a, pair.b), f"both with {_text(lost)}{again}"))
    byes += [Bye(p=player, why=f"odd number with {_text(lost)}") for player, _ in pairing.byes]


def _contenders(field: Field, group: Sequence[str]) -> list[Contender]:
    known = met(field.matches)
    free = Counter(bye.p for each in field.rounds for bye in each.byes if bye.kind == "bye")
    return [
        Contender(
            id=entry,
            points=0,
            rating=field.entries[entry].rating,
            seed=field.order.index(entry) + 1,
            met=known.get(entry, {}),
            byes=free[entry],
        )
        for entry in group
    ]


def _have_met(field: Field, a: str, b: str) -> bool:
    return b in met(field.matches).get(a, {})


def _ranks(field: Field) -> Sequence[Rank]:
    lost, limit = losses(field), _limit(field)
    last = {entry: match.round for match in field.matches for entry in match.entries}
    keys: dict[str, tuple[int, int]] = {}
    notes: dict[str, tuple[int, str]] = {}
    for entry in field.order:
        if field.is_in(entry) and lost[entry] < limit:
            keys[entry] = (0, lost[entry])
        else:
            # Who went out later is placed better; who did so in the same round is equal.
            keys[entry] = (1, -last.get(entry, 0))
        notes[entry] = (lost[entry], _text(lost[entry]))
    return ranked(keys, field, notes)


N_FOLD = Format(
    name="n-fold elimination",
    draft=_draft,
    ranks=_ranks,
    knock_out=True,
    decisive=True,
    repairs=True,
)
