"""What an organiser does to a tournament: one small class an act, tagged in the field `do`.

The tags are the names that a tournament's list of allowed actions has. A player is named by
the id that the list of entrants gives, or by that of whoever plays on in the place.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from wire.formats import TournamentSettings
from wire.values import Name, PlayerId

MatchId = Annotated[str, Meta(min_length=1, max_length=12)]
Names = Annotated[list[Name], Meta(min_length=1, max_length=64)]

MAX_NAMED = 400  # players in one order of seeds; as many as a message holds
MAX_PAIRS = 200


class Act(Struct, frozen=True, kw_only=True, tag_field="do", omit_defaults=True):
    """Base of the acts."""


class Edit(Act, frozen=True, kw_only=True, tag="edit"):
    """Changes the settings before the start."""

    settings: TournamentSettings


class Enrol(Act, frozen=True, kw_only=True, tag="enrol"):
    """Makes a player of each name and enters it; the answer has the tokens to hand out.

    A name that an entrant has already is passed over, so that a list can be sent again.
    """

    names: Names


class NewToken(Act, frozen=True, kw_only=True, tag="new-token"):
    """Gives a player whom this tournament enrolled another token; the former one is dead.

    For one who has lost it; whoever is connected with the former one is sent away.
    """

    player: PlayerId


class Invite(Act, frozen=True, kw_only=True, tag="invite"):
    """Enters a player who is known to the server."""

    player: PlayerId


class Remove(Act, frozen=True, kw_only=True, tag="remove"):
    """Takes a player out without blame."""

    player: PlayerId


class OpenCheckIn(Act, frozen=True, kw_only=True, tag="open-check-in"):
    """Asks the players to say that they are there; only who does will start."""


class CloseCheckIn(Act, frozen=True, kw_only=True, tag="close-check-in"):
    """Asks no longer; what was said stays."""


class CheckInFor(Act, frozen=True, kw_only=True, tag="check-in-for"):
    """Says for a player that they are there."""

    player: PlayerId


class Seed(Act, frozen=True, kw_only=True, tag="seed"):
    """Sets the order of the seeds; those that a list does not name follow by rating."""

    method: Literal["rating", "list", "random"]
    order: Annotated[list[PlayerId], Meta(max_length=MAX_NAMED)] = []  # of a list, best first
    draw: Annotated[str, Meta(max_length=64)] = ""  # the public seed of a random order


class Begin(Act, frozen=True, kw_only=True, tag="start"):
    """Starts now, whatever was scheduled."""


class Pause(Act, frozen=True, kw_only=True, tag="pause"):
    """Lets nothing new start; races that run are raced to their end."""


class Resume(Act, frozen=True, kw_only=True, tag="resume"):
    """Goes on; what was still to come is later by the length of the pause."""


class Extend(Act, frozen=True, kw_only=True, tag="extend"):
    """Puts off the start, the start or the deadline of the round, or an arena's end."""

    what: Literal["start", "round-start", "round", "arena"]
    seconds: Annotated[int, Meta(ge=1, le=604_800)]


class Repair(Act, frozen=True, kw_only=True, tag="repair"):
    """Pairs a round again before it starts: by the rules, or by hand with the pairs given.

    By hand, who is in no pair has a bye.
    """

    pairs: Annotated[list[tuple[PlayerId, PlayerId]], Meta(max_length=MAX_PAIRS)] | None = None


class Hold(Act, frozen=True, kw_only=True, tag="hold"):
    """Keeps each round's results back until they are published, or does so no longer."""

    on: bool


class Publish(Act, frozen=True, kw_only=True, tag="publish"):
    """Publishes the results of the round that is over, which lets the next one come."""


class Restart(Act, frozen=True, kw_only=True, tag="restart"):
    """Lets a match begin anew on a new deal."""

    match: MatchId
    confirm: bool = False  # also where that discards what was played since


class VoidMatch(Act, frozen=True, kw_only=True, tag="void"):
    """Lets a match count for nobody."""

    match: MatchId
    confirm: bool = False


class Override(Act, frozen=True, kw_only=True, tag="override"):
    """Decides a match: its players best first, equal ones together, each exactly once."""

    match: MatchId
    places: Annotated[
        list[Annotated[list[PlayerId], Meta(min_length=1, max_length=16)]],
        Meta(min_length=1, max_length=16),
    ]
    confirm: bool = False


class Disqualify(Act, frozen=True, kw_only=True, tag="disqualify"):
    """Puts a player out."""

    player: PlayerId


class Reinstate(Act, frozen=True, kw_only=True, tag="reinstate"):
    """Takes a player in again who was put out or has left."""

    player: PlayerId


class Readmit(Act, frozen=True, kw_only=True, tag="readmit"):
    """Takes a player in again who has left, as if they had come back by themselves."""

    player: PlayerId


class Substitute(Act, frozen=True, kw_only=True, tag="substitute"):
    """Lets somebody else, who is known to the server, play on in a player's place."""

    player: PlayerId
    substitute: PlayerId


class Summon(Act, frozen=True, kw_only=True, tag="summon"):
    """Calls a player once more to the race that waits for them, on all their connections."""

    player: PlayerId


class Announce(Act, frozen=True, kw_only=True, tag="announce"):
    """Says something to everybody who looks."""

    text: Annotated[str, Meta(min_length=1, max_length=200)]


class Cancel(Act, frozen=True, kw_only=True, tag="cancel"):
    """Calls the tournament off."""


AnyAct = (
    Edit
    | Enrol
    | NewToken
    | Invite
    | Remove
    | OpenCheckIn
    | CloseCheckIn
    | CheckInFor
    | Seed
    | Begin
    | Pause
    | Resume
    | Extend
    | Repair
    | Hold
    | Publish
    | Restart
    | VoidMatch
    | Override
    | Disqualify
    | Reinstate
    | Readmit
    | Substitute
    | Summon
    | Announce
    | Cancel
)
