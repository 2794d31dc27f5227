"""The fair deal: published vectors, a second implementation, and what must never happen."""

import hashlib
import hmac
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.rules import RULES, Fault, Position, Rules, deal
from server.rules.deal import commitment, fair_key, layout, public_key
from tests.rules import naive, second_deal
from tests.rules.walks import RULE_TEXTS

PAGE = Path(__file__).parents[2] / "docs" / "fairness.md"


def published() -> list[dict[str, Any]]:
    block = re.search(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert block is not None
    vectors: list[dict[str, Any]] = json.loads(block[1])
    return vectors


VECTORS = published()
FAIR = [vector for vector in VECTORS if "secret" in vector]
PUBLIC = [vector for vector in VECTORS if "seed" in vector]


def sizes_and_decks(rules_text: str) -> tuple[list[int], int]:
    rules = naive.read_rules(rules_text)
    return [int(size) for size in rules["sizes"].split("-")], int(rules["decks"])


def second_layout(rules_text: str, key: bytes) -> str:
    sizes, decks = sizes_and_decks(rules_text)
    return second_deal.layout(rules_text, sizes, decks, key)


def test_at_least_five_vectors_of_each_kind_are_published() -> None:
    assert len(FAIR) >= 5
    assert len(PUBLIC) >= 5
    assert len(FAIR) + len(PUBLIC) == len(VECTORS)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v['rules']} {v.get('seed', '')}")
def test_both_programs_give_the_published_layout(vector: dict[str, Any]) -> None:
    key = bytes.fromhex(vector["key"])
    assert layout(Rules.parse(vector["rules"]), key).text() == vector["position"]
    assert second_layout(vector["rules"], key) == vector["position"]


@pytest.mark.parametrize("vector", PUBLIC, ids=lambda v: f"{v['rules']} {v['seed']}")
def test_both_programs_give_the_published_key_of_a_public_seed(vector: dict[str, Any]) -> None:
    assert public_key(vector["seed"]).hex() == vector["key"]
    assert second_deal.public_key(vector["seed"]).hex() == vector["key"]
    assert deal(Rules.parse(vector["rules"]), vector["seed"]).text() == vector["position"]


@pytest.mark.parametrize("vector", FAIR, ids=lambda v: f"{v['rules']} {v['salts']}")
def test_both_programs_give_the_published_commitment_and_key(vector: dict[str, Any]) -> None:
    secret, salts = bytes.fromhex(vector["secret"]), [bytes.fromhex(s) for s in vector["salts"]]
    for commit, make in (
        (commitment, fair_key),
        (second_deal.commitment, second_deal.fair_key),
    ):
        assert commit(vector["deal"], secret).hex() == vector["commitment"]
        assert make(secret, vector["deal"], vector["rules"], salts).hex() == vector["key"]


def test_one_of_the_vectors_throws_a_word_away() -> None:
    thrown = [second_deal.shuffled(2, second_deal.public_key(v["seed"]))[1] for v in PUBLIC[:3]]
    assert thrown == [0, 0, 1]


@given(st.binary(min_size=32, max_size=32), st.sampled_from(RULE_TEXTS))
def test_both_programs_deal_alike_from_any_key(key: bytes, rules_text: str) -> None:
    rules = Rules.parse(rules_text)
    position = layout(rules, key)
    assert position.text() == second_layout(rules.text(), key)
    assert position.check() == Fault(0)
    assert [len(column.up) for column in position.columns] == [1] * rules.columns
    assert (position.turn, position.cards, position.waste) == (1, 0, ())


@given(
    st.binary(min_size=32, max_size=32),
    st.text(max_size=20),
    st.text(max_size=20),
    st.lists(st.binary(max_size=64), max_size=16),
)
def test_both_programs_make_the_same_key(
    secret: bytes, deal_id: str, rules_text: str, salts: list[bytes]
) -> None:
    key = fair_key(secret, deal_id, rules_text, salts)
    assert key == second_deal.fair_key(secret, deal_id, rules_text, salts)
    assert commitment(deal_id, secret) == second_deal.commitment(deal_id, secret)


SHIFTED = st.sampled_from(["", "a", "b", "ab", "ba", "aa"])


@given(st.tuples(SHIFTED, SHIFTED, st.lists(SHIFTED, max_size=3)), st.data())
def test_no_two_inputs_share_a_key_by_moving_a_border(
    one: tuple[str, str, list[str]], data: st.DataObject
) -> None:
    other = data.draw(st.tuples(SHIFTED, SHIFTED, st.lists(SHIFTED, max_size=3)))
    keys = {
        fair_key(bytes(32), deal_id, rules, [salt.encode() for salt in salts])
        for deal_id, rules, salts in (one, other)
    }
    assert len(keys) == (1 if one == other else 2)


def test_each_players_bytes_and_their_order_decide_the_deal() -> None:
    secret = bytes(32)
    keys = [
        fair_key(secret, "r", "gargantua", salts)
        for salts in ([], [b""], [b"a"], [b"a", b""], [b"", b"a"], [b"a", b"b"], [b"b", b"a"])
    ]
    assert len(set(keys)) == len(keys)


def test_the_commitment_is_not_the_secret_of_another_deal_id() -> None:
    assert commitment("a", bytes(32)) != commitment("b", bytes(32))
    assert len(commitment("a", bytes(32))) == 32


@pytest.mark.parametrize("secret", [b"", bytes(31), bytes(33)])
def test_a_secret_of_another_length_is_refused(secret: bytes) -> None:
    with pytest.raises(ValueError, match="is 32 bytes, not"):
        commitment("r", secret)
    with pytest.raises(ValueError, match="is 32 bytes, not"):
        fair_key(secret, "r", "gargantua", [])


def test_more_than_64_bytes_of_a_player_are_refused() -> None:
    assert fair_key(bytes(32), "r", "gargantua", [bytes(64)])
    with pytest.raises(ValueError, match="64 at most"):
        fair_key(bytes(32), "r", "gargantua", [b"", bytes(65)])


def high_words(key: bytes, message: bytes, _digest: str = "") -> bytes:
    """Stands for HMAC, with words among the 256 highest only, where some are thrown away."""
    noise = hashlib.sha256(key + message).digest()
    return b"".join(b"\xff\xff\xff" + noise[at : at + 1] for at in range(8))


@pytest.mark.parametrize("rules_text", ["double-klondike", "klondike-easy"])
def test_both_programs_throw_the_same_words_away(
    monkeypatch: pytest.MonkeyPatch, rules_text: str
) -> None:
    monkeypatch.setattr(hmac, "digest", high_words)
    monkeypatch.setattr(second_deal, "mac", high_words)
    thrown = 0
    for number in range(200):
        key = number.to_bytes(32, "big")
        assert layout(RULES[rules_text], key).text() == second_layout(rules_text, key)
        thrown += second_deal.shuffled(1, key)[1]
    assert thrown > 200


def test_the_same_seed_is_the_same_deal_and_another_seed_another() -> None:
    rules = RULES["double-klondike"]
    texts = {deal(rules, seed).text() for seed in ["42", "42", "42 ", "043", ""]}
    assert len(texts) == 4


def test_a_deal_may_be_given_explicitly_as_text() -> None:
    line = deal(RULES["gargantua"], "explicit").text()
    assert Position.parse(line) == deal(RULES["gargantua"], "explicit")


def test_the_first_row_goes_to_all_columns_before_the_second() -> None:
    rules = Rules.parse("klondike-easy,sizes=1-3-2")
    pack, _ = second_deal.shuffled(1, bytes(32))
    columns = layout(rules, bytes(32)).text().split()[5].upper().split("/")
    assert columns == [pack[0], pack[1] + pack[3] + pack[5], pack[2] + pack[4]]
