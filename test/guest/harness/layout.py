# SPDX-License-Identifier: LGPL-2.1-or-later
"""The layout language: which lvm2 commands make the volume groups that lie on a guest's disks.

    for i in 1..N                           repeated; the rounds must not depend on each other
        vgcreate vg{i:04} d{i}
        lvcreate -n lv -l 4 vg{i:04}
    vgcreate mixed d1..dN                   a range of disks; d1..dN/8 is every eighth from d1 on
    mkfs ext4 mixed/lv                      a file system on a linear LV in one piece; then options of mke2fs

N is the number of disks, {...} an expression with N and the counters in it. A command that names no disk (vgexport,
lvcreate) belongs with the commands before it that do.
"""

import re
from dataclasses import dataclass, field

from harness.progress import Trouble

LAYOUT_LINE = re.compile(r"for (\w+) in (\S+)\.\.(\S+)$")
DISK_RANGE = re.compile(r"d(\d+)\.\.d(\d+)(?:/(\d+))?$")
DISK = re.compile(r"d(\d+)$")


@dataclass
class Stanza:
    """Commands that run one after another and the disks that they see. Words are strings, disks are integers."""
    commands: list = field(default_factory=list)

    @property
    def disks(self):
        return sorted({word for command in self.commands for word in command if isinstance(word, int)})


def expand(lines, disk_count):
    """Expand layout lines to a list of phases; the stanzas of one phase are independent of each other."""
    phases = []
    loop = None
    for line in lines:
        names = {"N": disk_count}
        indented, text = line.startswith((" ", "\t")), line.strip()
        start = LAYOUT_LINE.match(text)
        if start:
            first, last = (int(substitute("{%s}" % bound, names)) for bound in start.group(2, 3))
            loop = start.group(1), range(first, last + 1)
            phases.append([Stanza() for _ in loop[1]])
        elif indented and loop:
            for stanza, value in zip(phases[-1], loop[1]):
                stanza.commands.append(words_of(text, names | {loop[0]: value}))
        else:
            if loop or not phases:
                phases.append([Stanza()])
                loop = None
            phases[-1][0].commands.append(words_of(text, names))
    return phases


def substitute(text, names):
    def value(match):
        expression, _, form = match.group(1).partition(":")
        # Layouts are part of the tests, so that eval() gets nothing that the harness would not run anyway.
        return format(eval(expression, {"__builtins__": {}}, names), form)
    return re.sub(r"\{([^}]*)\}", value, text)


def words_of(text, names):
    words = []
    for word in substitute(re.sub(r"\bdN\b", "d{N}", text), names).split():
        many, one = DISK_RANGE.match(word), DISK.match(word)
        if many:
            words.extend(range(int(many[1]), int(many[2]) + 1, int(many[3] or 1)))
        elif one:
            words.append(int(one[1]))
        else:
            words.append(word)
    if any(isinstance(word, int) and not 1 <= word <= names["N"] for word in words):
        raise Trouble(f"layout: '{text}' names a disk that is not there")
    return words
