# SPDX-License-Identifier: LGPL-2.1-or-later
"""A step of the check: a command that succeeds or fails, and what a scheduler has to know about it."""

from dataclasses import dataclass, field

# Beside each other run as many steps that compute as there are processors, and as many that mostly wait.
COMPUTING, WAITING = "computing", "waiting"
# Nothing runs beside it: it uses all processors, or measures time that must not depend on what others do.
ALONE = "alone"
# It compares times of one guest, which has a processor of its own: as many beside each other as there are processors, and
# nothing else.
MEASURING = "measuring"
# Of two processors, how much of one a step takes.
SHARES = {COMPUTING: 1, WAITING: 0.5, MEASURING: 1, ALONE: 2}


@dataclass
class Step:
    name: str
    command: list
    kind: str                                   # under which its time is added up
    seconds: int = 30                           # that it takes, roughly; those that take long begin first
    load: str = COMPUTING
    after: list = field(default_factory=list)   # names of steps that it needs; without them it fails

    @property
    def limit(self):
        """Seconds after which it is ended and has failed: something in it waits for ever."""
        return 600 + 5 * self.seconds

    @property
    def cost(self):
        """In seconds of a processor: how much of a part of the check it is."""
        return self.seconds * SHARES[self.load]
