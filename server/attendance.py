"""One connection at tournaments: what it asks of them, and what it is shown."""

from dataclasses import dataclass
from typing import Protocol

from server import bulletin
from server.codes import new_room_code, read_code
from server.directing import Newcomer, Ruling, checked, entered
from server.director import Director
from server.foyer import Foyer
from server.gallery import Part, Sight
from server.hall import OWNER, Hall
from server.halls import Halls
from server.ladder import Ladder
from server.refusal import Refusal, store_away
from server.store import Store, Unavailable
from server.store.players import Player
from server.tournament import Around, Tournament, acts
from server.tournament.acts.entering import entry_of
from server.webhooks import Webhooks
from wire import acts as a
from wire import messages as m
from wire import tournaments as w
from wire.lines import Claim

TOLD_OF = 16  # tournaments of a player that a connection is told of, the newest
ANNALS = 400  # journal entries in one message
LEADERS = 100  # lines of the leaderboard in one message


class Speaker(Protocol):
    """The connection."""

    player: str

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""

    def send(self, message: m.ServerMessage) -> None:
        """Send in order."""

    def send_frame(self, data: bytes) -> None:
        """Send an encoded message in order."""

    def send_latest(self, kind: str, data: bytes) -> None:
        """Send what a newer one of its kind replaces."""

    def disowned(self) -> None:
        """End: the token that this connection came with is dead."""

    def lost(self, refusal: Refusal) -> None:
        """Learn that the tournament visited is not shown any more, and why."""


@dataclass(frozen=True)
class Fairground:
    """What the connections of a node share of its tournaments."""

    store: Store
    halls: Halls
    director: Director
    foyer: Foyer
    ladder: Ladder
    webhooks: Webhooks


class Attendance:
    """What a connection has to do with tournaments."""

    def __init__(self, speaker: Speaker, fairground: Fairground) -> None:
        self._speaker = speaker
        self._store = fairground.store
        self._halls = fairground.halls
        self._director = fairground.director
        self._foyer = fairground.foyer
        self._ladder = fairground.ladder
        self._webhooks = fairground.webhooks
        self._who: Player | None = None
        self._visited: str | None = None
        self._entered: set[str] = set()

    # --- coming and going -------------------------------------------------------------

    async def arrive(self, who: Player) -> None:
        """Be told from now on of the tournaments in which the player has a place.

        Raises:
            Unavailable, Refusal: the store does not answer.
        """
        self._who = who
        for code in (await self._store.tournaments.of(who.id))[:TOLD_OF]:
            try:
                await self._follow(code)
            except Refusal as refusal:
                if refusal.code == "store":
                    raise
                if refusal.code == "no-tournament":
                    await self._store.tournaments.leave(who.id, code)

    async def _follow(self, code: str) -> None:
        if await self._foyer.enter(code, self._speaker):
            self._entered.add(code)
            if self._speaker.is_gone:
                self.leave()

    def leave(self) -> None:
        """Be told nothing more."""
        for code in self._entered:
            self._foyer.exit(code, self._speaker)
        self._entered.clear()
        self._look_away()

    def _look_away(self) -> None:
        if self._visited is not None:
            self._foyer.depart(self._visited, self._speaker)
            self._visited = None

    # --- requests ---------------------------------------------------------------------

    async def ask(self, message: m.ClientMessage) -> None:
        """Do what a message of `wire.tournaments` asks, but to open a tournament.

        Raises:
            Refusal: it cannot be done.
        """
        try:
            await self._ask(message)
        except Unavailable:
            raise store_away() from None

    async def _ask(self, message: m.ClientMessage) -> None:
        match message:
            case w.Direct():
                await self._direct(message)
            case w.Webhook():
                await self._webhook(message)
            case w.Tournaments():
                self._speaker.send(w.Programme(tournaments=await self._halls.programme()))
            case w.Enter() | w.CheckIn() | w.Withdraw() | w.Rejoin():
                await self._take_part(message)
            case w.Visit():
                await self._visit(message)
            case w.Browse():
                await self._browse(message)
            case w.Chronicle():
                await self._chronicle(message)
            case w.Ratings():
                self._speaker.send(await self._ladder.board(message.rules, message.start, LEADERS))
            case w.Career():
                self._speaker.send(await self._ladder.career(message.rules, message.player))
            case _:
                raise AssertionError(f"{type(message).__name__} is handled elsewhere")

    async def organise(self, message: w.Organise) -> None:
        """Open a tournament; its keys go to this connection alone."""
        settings = checked(message.settings)
        self._speaker.send(await self._halls.open(settings, public=message.public))

    # --- players ----------------------------------------------------------------------

    async def _take_part(self, message: w.Enter | w.CheckIn | w.Withdraw | w.Rejoin) -> None:
        code, player = read_code(message.tournament), self._speaker.player
        async with self._halls.held(code) as hall:
            match message:
                case w.Enter():
                    await self._enter(hall)
                case w.CheckIn():
                    elsewhere = await self._elsewhere(hall, player)
                    await self._director.act(
                        hall,
                        lambda t: acts.decide_check_in(
                            t, player, player=player, elsewhere=elsewhere
                        ),
                    )
                case w.Withdraw():
                    why = message.why
                    await self._director.act(
                        hall, lambda t: acts.decide_withdraw(t, player, player=player, why=why)
                    )
                case w.Rejoin():
                    elsewhere = await self._elsewhere(hall, player)
                    await self._director.act(
                        hall,
                        lambda t: acts.decide_rejoin(t, player, player=player, elsewhere=elsewhere),
                    )
            await self._follow(code)
            await self._tell_place(hall)

    async def _tell_place(self, hall: Hall) -> None:
        player = self._speaker.player
        self._speaker.send((await hall.places([player]))[player])

    async def _enter(self, hall: Hall) -> None:
        assert self._who is not None
        newcomer = await self._newcomer(hall, self._who)
        # Remembered first: who has a place is called, whatever happens in between.
        await self._remember(hall, [newcomer.player])
        now = self._store.clock.now()
        await self._director.act(hall, lambda t: entered(t, "", [newcomer], now))

    async def _remember(self, hall: Hall, players: list[str]) -> None:
        await self._store.tournaments.enter(players, hall.code, self._store.clock.now())

    async def _elsewhere(self, hall: Hall, player: str) -> str | None:
        """Find the other tournament that is running with this player in it, if this one is."""
        if not hall.t.is_on:
            return None
        return (await self._director.engage(hall, [player])).get(player)

    async def _newcomer(self, hall: Hall, who: Player) -> Newcomer:
        rules = hall.t.settings.race.rules
        rating = (await self._ladder.of(rules, [who.id]))[who.id].shown
        elsewhere = await self._elsewhere(hall, who.id)
        return Newcomer(who.id, who.name, rating, who.bot, elsewhere)

    # --- organisers -------------------------------------------------------------------

    async def _direct(self, message: w.Direct) -> None:
        code = read_code(message.tournament)
        async with self._halls.held(code) as hall:
            by = hall.role(message.key)
            act = message.act
            if isinstance(act, a.Enrol):
                await self._enrol(hall, by, act, message.why)
                return
            if isinstance(act, a.NewToken):
                await self._renew(hall, by, act, message.why)
                return
            ruling = Ruling(
                act=act,
                by=by,
                why=message.why,
                now=self._store.clock.now(),
                around=await self._around(hall, act),
                newcomers=await self._brought_in(hall, act),
            )
            await self._remember(hall, [each.player for each in ruling.newcomers])
            await self._director.act(hall, ruling.decide, pairs=ruling.pairs)
            tag = type(act).__struct_config__.tag
            self._speaker.send(w.Directed(tournament=code, do=str(tag), version=hall.t.version))
            self._speaker.send(bulletin.duties(hall.t, by))

    async def _webhook(self, message: w.Webhook) -> None:
        code = read_code(message.tournament)
        async with self._halls.held(code) as hall:
            _check_owner(hall.role(message.key))
        wanted = {"round": message.rounds, "result": message.results, "end": message.end}
        kinds = [kind for kind, is_wanted in wanted.items() if is_wanted]
        secret = ""
        if message.url and kinds:
            secret = await self._webhooks.choose(code, message.url, kinds)
        else:
            await self._webhooks.drop(code)
        self._speaker.send(w.Hooked(tournament=code, secret=secret))

    async def _around(self, hall: Hall, act: a.AnyAct) -> Around:
        busy = {}
        if isinstance(act, a.Begin):
            players = [entry.player for entry in hall.t.entries.values()]
            busy = await self._director.engage(hall, players)
        return Around(new_room_code, None, busy)

    async def _brought_in(self, hall: Hall, act: a.AnyAct) -> list[Newcomer]:
        match act:
            case a.Invite():
                wanted = act.player
            case a.Substitute():
                wanted = act.substitute
            case a.Readmit() | a.Reinstate():
                entry = hall.t.entries.get(hall.t.people.get(act.player, ""))
                wanted = entry.player if entry is not None else act.player
            case _:
                return []
        who = await self._store.players.get(wanted)
        if who is None:
            raise Refusal("no-player", f"There is no player {wanted}.")
        return [await self._newcomer(hall, who)]

    async def _enrol(self, hall: Hall, by: str, act: a.Enrol, why: str) -> None:
        """Make players of names and enter them, all or none."""
        _check_owner(by)
        taken = {entry.name for entry in hall.t.entries.values()}
        names = [name for name in dict.fromkeys(act.names) if name not in taken]
        create = self._store.players.create
        made = [await create(name, enrolled=hall.code) for name in names]
        newcomers = [await self._newcomer(hall, who) for who, _ in made]
        await self._remember(hall, [each.player for each in newcomers])
        now = self._store.clock.now()
        await self._director.act(hall, lambda t: entered(t, by, newcomers, now, why))
        self._speaker.send(
            w.Enrolled(
                tournament=hall.code,
                players=[Claim(player=who.id, name=who.name, token=token) for who, token in made],
                passed=[name for name in act.names if name in taken],
            )
        )

    async def _renew(self, hall: Hall, by: str, act: a.NewToken, why: str) -> None:
        """Give a player whom the organiser has enrolled another token."""
        ruling = Ruling(act, by, why, self._store.clock.now(), Around(new_room_code))
        ruling.decide(hall.t)
        who = await self._store.players.get(entry_of(hall.t, act.player).player)
        token = await self._store.players.renew(who.id, hall.code) if who is not None else None
        if who is None or token is None:
            raise Refusal(
                "own-token", "Only who was enrolled here by name has a token from this organiser."
            )
        # After it: whoever is sent away by the news does not come back with the former token.
        await self._director.act(hall, ruling.decide)
        claim = Claim(player=who.id, name=who.name, token=token)
        self._speaker.send(w.Enrolled(tournament=hall.code, players=[claim], passed=[]))

    # --- visitors ---------------------------------------------------------------------

    def _sight(self, hall: Hall, key: str) -> Sight:
        if key:
            hall.role(key)
            return "organiser"
        return "player" if self._speaker.player in hall.t.people else "public"

    async def _visit(self, message: w.Visit) -> None:
        self._look_away()
        if message.tournament is None:
            return
        code = read_code(message.tournament)
        async with self._halls.held(code) as hall:
            sight = self._sight(hall, message.key)
            self._visited = code
            try:
                await self._foyer.visit(code, self._speaker, sight)
            except BaseException:
                self._look_away()
                raise
            if message.key:
                self._speaker.send(bulletin.duties(hall.t, hall.role(message.key)))
            if self._speaker.player in hall.t.people:
                await self._tell_place(hall)
            if self._speaker.is_gone:
                self._look_away()

    async def _browse(self, message: w.Browse) -> None:
        code = read_code(message.tournament)
        async with self._foyer.gallery(code) as gallery:
            sight = self._sight(gallery.hall, message.key)
            for part in _parts(message, gallery.state(sight)):
                frame = await gallery.frame(sight, part)
                if frame is not None:
                    self._speaker.send_frame(frame)

    async def _chronicle(self, message: w.Chronicle) -> None:
        code = read_code(message.tournament)
        async with self._foyer.gallery(code) as gallery:
            sight = self._sight(gallery.hall, message.key)
            t = gallery.state(sight)
            if sight != "organiser" and not t.is_over:
                raise Refusal("not-over", "The record is published when the tournament is over.")
            start, total = message.start, t.version
            part = await self._store.journals.read(gallery.hall.jid, start, ANNALS)
        lines = [entry.line().decode() for entry in part if entry.version <= total]
        self._speaker.send(w.Annals(tournament=code, start=start, total=total, entries=lines))


def _check_owner(role: str) -> None:
    if role != OWNER:
        raise Refusal("not-yours", f"That is not for a {role} of this tournament to do.")


def _parts(browse: w.Browse, t: Tournament) -> list[Part]:
    parts: list[Part] = []
    if browse.round is not None:
        if browse.round > len(t.rounds):
            raise Refusal("not-there", "There is no such round yet.")
        parts.append(("pairings", browse.round))
    if browse.stage is not None:
        if browse.stage >= len(t.stages):
            raise Refusal("not-there", "There is no such stage yet.")
        parts += [("ranking", browse.stage), ("bracket", browse.stage)]
    return parts or [("tournament", 0)]
