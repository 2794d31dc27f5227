"""The game itself: rules, positions, moves, deals, and nothing of the world around them.

position = deal(RULES["double-klondike"], "42")
move = position.resolve(Move.parse("5>"))
position = position.play(move)
"""

from server.rules.check import Fault
from server.rules.deal import deal
from server.rules.move import IllegalMove, Move
from server.rules.position import Position
from server.rules.variant import RULES, Rules, RulesError

__all__ = ["RULES", "Fault", "IllegalMove", "Move", "Position", "Rules", "RulesError", "deal"]
