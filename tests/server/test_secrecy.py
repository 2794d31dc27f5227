"""Every byte sent to every kind of client, searched for what nobody may know yet."""

import re

from msgspec.structs import replace

from server.rules import Position, Rules
from server.rules.deal import commitment, fair_key, layout
from tests.server.floor import QUICK, Someone, race_of
from wire import messages as m
from wire.codec import decode_server
from wire.values import Piles

CARD = re.compile(r"[A23456789TJQK][CDHS]")


def shown(piles: Piles) -> set[str]:
    """The cards that a set of piles shows."""
    return {card for pile in piles.values() for card in CARD.findall(pile)}


def open_cards(position: Position) -> set[str]:
    """Cards face up in columns or on foundations, read off the text form."""
    *_, foundations, columns = position.text().split(" ")
    return set(CARD.findall(foundations)) | set(CARD.findall(columns))


async def play_along(someone: Someone, count: int) -> None:
    """Play the first useful moves that the server lists."""
    n = someone.last(m.Board).n
    for _ in range(count):
        await someone.say(m.Hint())
        moves = (await someone.hear(m.Hints)).moves
        if not moves:
            return
        text = next((move for move in moves if ">f" in move), moves[n % len(moves)])
        n += 1
        await someone.play(n, text)


async def test_nothing_secret_leaves_the_server_before_the_end(port: int) -> None:
    settings = replace(QUICK, seed=None, undo="free")
    code, (anna, ben) = await race_of(port, "anna", "ben", settings=settings)
    watcher = await Someone.arrive(port, "wanda")
    await watcher.say(m.Spectate(room=code))
    await watcher.hear(m.Room)
    outsider = await Someone.arrive(port, "otto")
    await play_along(anna, 60)
    await play_along(ben, 25)
    await anna.say(m.Snapshot())
    await anna.hear(m.Board)
    await outsider.say(m.Rooms())
    await outsider.hear(m.Lobby)
    assert (await outsider.refused(m.Record(room=code))).code == "not-over"
    everybody = (anna, ben, watcher, outsider)
    before_the_end = {someone: len(someone.frames) for someone in everybody}
    for player in (anna, ben):
        await player.say(m.Resign())
    result = await watcher.hear(m.Standings)
    reveal = result.reveal
    assert reveal is not None
    start = Position.parse(reveal.position)

    # The reveal rebuilds the deal, and it is the one that was promised and played.
    secret = bytes.fromhex(reveal.secret)
    assert commitment(reveal.deal, secret).hex() == reveal.commitment
    assert reveal.commitment == anna.all(m.Room)[0].commitment
    salts = [bytes.fromhex(salt) for salt in reveal.salts]
    rules = Rules.parse("double-klondike")
    assert layout(rules, fair_key(secret, reveal.deal, rules.text(), salts)) == start

    for someone in everybody:
        frames = someone.frames[: before_the_end[someone]]
        blob = b"".join(frames)
        assert secret not in blob
        assert reveal.secret.encode() not in blob
        assert reveal.position.encode() not in blob
        for known in (m.Board, m.Moved):
            assert all(
                "?" not in pile
                for frame in frames
                if isinstance(message := decode_server(frame), known)
                for pile in message.piles.values()
            )
    _each_card_shown_was_open_then(anna, start, before_the_end[anna])
    _each_card_shown_was_open_then(ben, start, before_the_end[ben])
    for blind in (watcher, outsider):
        for frame in blind.frames[: before_the_end[blind]]:
            message = decode_server(frame)
            assert not isinstance(message, m.Board | m.Moved | m.Hints | m.Countdown)
            text = frame.decode("latin-1")
            assert not re.search(r"\d:([A23456789TJQK][CDHS])+", text)


def _each_card_shown_was_open_then(someone: Someone, start: Position, until: int) -> None:
    """Replay a player's own moves: what was shown with each must have been face up.

    The waste is the exception that proves the rule: its cards have been turned up.
    """
    from server.rules import Move

    position = start
    former: list[Position] = []
    for frame in someone.frames[:until]:
        message = decode_server(frame)
        if isinstance(message, m.Moved):
            if message.m == "undo":
                position = former.pop()
            else:
                former.append(position)
                position = position.play(Move.parse(message.m))
        if isinstance(message, m.Moved | m.Board):
            waste = position.text().split(" ")[3]
            allowed = open_cards(position) | set(CARD.findall(waste))
            assert shown(message.piles) <= allowed
            for name, pile in message.piles.items():
                if name.isdecimal():
                    column = position.text().split(" ")[5].split("/")[int(name) - 1]
                    down = len(re.findall("[a2-9tjqk][cdhs]", column))
                    assert int(pile.partition(":")[0]) == down


async def test_a_player_who_is_put_out_sees_no_more_than_before(port: int) -> None:
    settings = replace(QUICK, seed=None, spectators="boards")
    code, (anna, ben) = await race_of(port, "anna", "ben", settings=settings)
    await play_along(ben, 10)
    await anna.say(m.Disqualify(player=ben.welcome.player, why="two screens"))
    await ben.hear(m.Finished)
    mark = len(ben.heard)
    await play_along(anna, 30)
    await ben.say(m.Snapshot())
    await ben.hear(m.Board)
    for question in (m.Hint(), m.Spectate(room=code), m.Record(room=code)):
        assert (await ben.refused(question)).code in ("done", "seated", "not-over")
    back = await Someone.arrive(port, token=ben.token)
    await back.hear(m.Board)
    shown_to_ben = [*ben.heard[mark:], *back.heard]
    own = ben.last(m.Room).seat
    boards = [each for each in shown_to_ben if isinstance(each, m.Board)]
    assert [board.seat for board in boards] == [own, own]
    assert boards[0].piles == boards[1].piles
    assert not any(isinstance(each, m.Moved | m.Hints | m.Standings) for each in shown_to_ben)


async def test_hand_and_columns_show_only_a_count_of_what_is_face_down(port: int) -> None:
    _, (anna, _) = await race_of(port, "anna", "ben")
    piles = anna.last(m.Board).piles
    assert piles["h"] == "59:"
    assert piles["w"] == "0:"
    for number in range(1, 10):
        assert re.fullmatch(rf"{number - 1}:[A23456789TJQK][CDHS]", piles[str(number)])
