"""What crosses the socket between a client and a node, and nothing else.

Imported by both ends, imports neither. `messages` and `tournaments` declare every message and
close code, `codec` turns them into frames and back; `reading` has the words in which both ends
read tournaments out.
"""
