"""Plays: numbered in order, none lost, none sent under a number that may be taken."""

from hypothesis import given, settings
from hypothesis import strategies as st

from client.plays import NumberedPlay, Play, Plays
from wire.messages import Finish, Move, Undo

READY = Plays(paused=False)


def ask(plays: Plays, *texts: str) -> tuple[Plays, list[NumberedPlay]]:
    sent: list[NumberedPlay] = []
    for text in texts:
        plays, more = plays.ask(Play(text))
        sent += more
    return plays, sent


def test_plays_are_numbered_after_those_that_count_and_those_under_way() -> None:
    plays, sent = ask(Plays(counted=7, paused=False), "d", "undo", "finish")
    assert sent == [Move(n=8, m="d"), Undo(n=9), Finish(n=10)]
    assert plays.waiting == 3


def test_nothing_goes_out_before_the_first_board() -> None:
    plays, sent = ask(Plays(), "d", "w>f")
    assert sent == []
    plays, sent = plays.resumed(4)
    assert sent == [Move(n=5, m="d"), Move(n=6, m="w>f")]


def test_after_a_drop_what_the_board_does_not_count_goes_again_under_its_number() -> None:
    plays, _ = ask(READY, "d", "w>f", "1>2")
    plays, more = ask(plays.dropped(), "d")
    assert more == []
    plays, sent = plays.resumed(1)
    assert sent == [Move(n=2, m="w>f"), Move(n=3, m="1>2"), Move(n=4, m="d")]


def test_a_board_on_a_whole_line_sends_nothing_again() -> None:
    plays, _ = ask(READY, "d", "w>f")
    plays, sent = plays.resumed(0)
    assert sent == []
    assert plays.waiting == 2


def test_after_a_refusal_new_plays_wait_for_all_answers() -> None:
    plays, _ = ask(READY, "1>2", "d")
    plays, sent = plays.refused(1)
    assert sent == []
    plays, sent = ask(plays, "w>f")
    assert sent == []
    plays, sent = plays.refused(2)
    assert sent == [Move(n=1, m="w>f")]


def test_plays_after_a_finish_wait_until_it_is_answered() -> None:
    plays, sent = ask(READY, "finish", "d")
    assert sent == [Finish(n=1)]
    plays, sent = plays.moved(1)
    assert sent == [Move(n=2, m="d")]


class Referee:
    """A server that takes plays strictly in order and refuses what is refused."""

    def __init__(self) -> None:
        self.played: list[str] = []

    def answer(self, message: NumberedPlay) -> tuple[str, int]:
        text = message.m if isinstance(message, Move) else "undo"
        if message.n <= len(self.played):
            return "moved", message.n
        if message.n > len(self.played) + 1 or text == "9>9":
            return "refused", message.n
        self.played.append(text)
        return "moved", message.n


steps = st.lists(
    st.one_of(
        st.sampled_from(["d", "w>f", "undo", "9>9"]),
        st.just("server"),  # the server reads one message
        st.just("answer"),  # one answer arrives
        st.just("drop"),
    ),
    max_size=60,
)


@given(steps)
@settings(max_examples=300)
def test_whatever_drops_when_every_play_counts_once_in_order_or_was_refused(
    steps: list[str],
) -> None:
    referee, plays = Referee(), READY
    up: list[NumberedPlay] = []  # on the way to the server
    down: list[tuple[str, int]] = []  # and back
    refused = 0
    asked: list[str] = []

    def settle(result: tuple[Plays, list[NumberedPlay]]) -> None:
        nonlocal plays
        plays, sent = result
        up.extend(sent)

    def arrive() -> None:
        nonlocal refused
        kind, n = down.pop(0)
        refused += kind == "refused"
        settle(plays.moved(n) if kind == "moved" else plays.refused(n))

    def drop() -> None:
        nonlocal plays
        up.clear()
        down.clear()
        plays = plays.dropped()
        settle(plays.resumed(len(referee.played)))

    for step in steps:
        if step == "server":
            if up:
                down.append(referee.answer(up.pop(0)))
        elif step == "answer":
            if down:
                arrive()
        elif step == "drop":
            drop()
        else:
            asked.append(step)
            settle(plays.ask(Play(step)))
    while up or down:
        while up:
            down.append(referee.answer(up.pop(0)))
        arrive()
    assert plays.waiting == 0
    assert len(referee.played) <= len(asked)
    rest = iter(asked)
    assert all(text in rest for text in referee.played)  # a subsequence: in order, none twice
    if "9>9" not in asked:
        assert referee.played == asked
