"""What this node counts, as plain numbers; `metrics` shows them to Prometheus."""

from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """Counters of one node since its start."""

    moves: int = 0  # acknowledged plays
    refusals: int = 0
    bad_frames: int = 0
    room_faults: int = 0
    rollbacks: int = 0
    races_over: int = 0  # ended by this node's word
    rooms_opened: int = 0
    resumes: int = 0
    replaced: int = 0
    notices_told: int = 0
    notices_failed: int = 0
