# SPDX-License-Identifier: LGPL-2.1-or-later
"""A scenario file: a title in the first comment, a header that says what the machine is like, a line of dashes, and
a body that the guest runs. The header is read here; its words are explained in README.md."""

import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

from harness.progress import Trouble

FOLDER = Path(__file__).parent.parent
DIVIDER = "----"
RELEASES = ("bookworm", "trixie", "forky")
# The parts of test/check, each with all of those before it. A scenario that belongs to none is run by another program.
CHECKS = ("quick", "plain", "all")
ELSEWHERE = "elsewhere"
# What "all" runs with releases beside the first, if that is another than in the plain check.
OTHER_RELEASES = "releases"


@dataclass
class Scenario:
    name: str
    title: str = ""
    checks: dict = field(default_factory=dict)      # part of test/check -> options for test/guest/run
    seconds: dict = field(default_factory=dict)     # part of test/check -> what it takes there, roughly
    releases: list = field(default_factory=lambda: ["bookworm"])    # of Debian, for the plain check; the oldest first
    oldest: str = None                              # release that it can hold with, if not the first of these
    load: str = "computing"
    disks: int = 0
    disk_mib: int = 2
    disks_kept: bool = False                        # from boot to boot, by a real shutdown
    layout: list = field(default_factory=list)
    late: list = field(default_factory=list)
    files: dict = field(default_factory=dict)       # path in the guest -> text
    cmdline: str = ""
    deadline: int = 90                              # seconds from boot to the end of the body, in each boot
    kernel: str = "uml"
    cpus: int = 2                                   # under qemu
    suite: str = ""                                 # the release of Debian that it runs with
    memory_mib: int = 0                             # more than what the machine would have by itself
    packages: list = field(default_factory=list)    # of Debian, beside what every guest has
    root: str = "image"
    boots: int = 1
    shutdown: str = "forced"
    shutdown_seconds: int = 60                      # that a real shutdown may take
    headgate: str = "enabled"
    backups: str = "known"
    lvm_calls: str = "logged"
    facts_differ: str = ""                          # why headgate's are not lvm2's at the end
    summary: str = "checks"
    contenders: list = field(default_factory=list)
    rows: list = field(default_factory=list)         # names of machines, of which one is chosen
    body: str = ""

    def runs_on(self, release):
        """Whether it can hold with a release: not with one that is older than the first or oldest that it names."""
        return RELEASES.index(release) >= RELEASES.index(self.oldest or self.releases[0])

    def belongs_to(self, check):
        return any(CHECKS.index(part) <= CHECKS.index(check) for part in self.checks if part in CHECKS)

    def part_in(self, check, release):
        """Which of its lines counts. Most repetitions, and most disks, show what a release does not change."""
        if check != "all" or release == self.suite:
            return check
        return next((part for part in (OTHER_RELEASES, "plain") if part in self.checks), check)

    def options_in(self, check):
        """For test/guest/run. Each scenario is whole in "all", unless that has a line of its own."""
        return self.checks.get(check, [] if check == "all" else self.checks.get("quick"))

    def seconds_in(self, check):
        return self.seconds.get(check, max(self.seconds.values()))


def names():
    return sorted(path.name for path in (FOLDER / "scenarios").iterdir() if path.is_file())


def read(name, disks=None, layout=None, row=None):
    """Read a scenario; disks, if given, replaces the number of disks in its header, and layout its layout. What is indented below a
    row is read only if this is the one."""
    path = FOLDER / "scenarios" / name
    if not path.is_file():
        raise Trouble(f"no scenario '{name}'; there are: {' '.join(names())}")
    header, divider, body = path.read_text().partition(f"\n{DIVIDER}\n")
    if not divider:
        raise Trouble(f"{path}: no line '{DIVIDER}' between header and body")
    scenario = Scenario(name, body=body)
    titles = [line.lstrip("# ") for line in header.splitlines() if line.startswith("#") and "SPDX" not in line]
    scenario.title = next((title for title in titles if title), "")
    late = None
    lines = significant_lines(header)
    while lines:
        line = lines.pop(0)
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        block = indented_block(lines)
        try:
            if word == "late":
                late = rest
                if not re.fullmatch(r"[0-9N-]+\.\.[0-9N-]+", late):
                    raise ValueError("it should be like 'late 6..N'")
            elif word == "file":
                scenario.files[rest] = "".join(f"{text}\n" for text in block)
            elif word == "layout":
                scenario.layout = block or named_layout(rest)
            elif word == "check":
                read_check(scenario, rest.split())
            elif word == "row":
                scenario.rows.append(rest)
                if rest == row:
                    lines[:0] = block
            else:
                vars(scenario).update(WORDS[word](rest))
        except (KeyError, ValueError) as error:
            number = [text.strip() for text in header.splitlines()].index(line.strip()) + 1
            reason = f"unknown header word '{word}'" if isinstance(error, KeyError) else error
            raise Trouble(f"{path}:{number}: '{line}': {reason}") from None
    if row and row not in scenario.rows:
        raise Trouble(f"{path}: no row '{row}'; there are: {' '.join(scenario.rows)}")
    if not any(line.startswith("check") for line in header.splitlines()):
        raise Trouble(f"{path}:1: no line 'check', which says where it belongs")
    if "expect " not in body and scenario.summary == "checks" and scenario.checks:
        raise Trouble(f"{path}:{len(header.splitlines()) + 1}: it checks nothing")
    scenario.suite = scenario.releases[0]
    scenario.disks = disks or scenario.disks
    if layout:
        scenario.layout = named_layout(layout)
    if late:
        first, last = (disk_number(bound, scenario.disks) for bound in late.split(".."))
        scenario.late = list(range(first, last + 1))
    return scenario


def read_check(scenario, words):
    """A line "check plain 40s --boots 2": a part of test/check, what it takes there, options."""
    place, *rest = words or [""]
    if place == ELSEWHERE and not rest:
        return
    if place not in (*CHECKS, OTHER_RELEASES) or not rest or not re.fullmatch(r"\d+s", rest[0]):
        raise ValueError(f"it should be like 'check plain 40s --boots 2', with one of {' '.join((*CHECKS, OTHER_RELEASES))}, or 'check {ELSEWHERE}'")
    scenario.seconds[place] = int(rest[0].removesuffix("s"))
    scenario.checks[place] = rest[1:]


def one_of(name, *values):
    def parse(rest):
        if rest not in values:
            raise ValueError(f"it should be one of {' '.join(values)}")
        return {name: rest}
    return parse


def matching(pattern, example, make):
    """A parser of what a pattern matches; make turns the groups that there are into fields."""
    def parse(rest):
        match = re.fullmatch(pattern, rest)
        if not match:
            raise ValueError(f"it should be like '{example}'")
        return make(*match.groups())
    return parse


def releases(rest):
    found = rest.split()
    if not found or found != [release for release in RELEASES if release in found]:
        raise ValueError(f"it should be some of {' '.join(RELEASES)}, in this order")
    return {"releases": found}


# Header word -> what makes fields of the rest of its line, or raises ValueError.
WORDS = {
    "disks": matching(r"(\d+)(?: of (\d+)M)?( kept)?", "disks 16, or disks 4 of 32M, or disks 4 kept",
                      lambda count, mib, kept: {"disks": int(count), **({"disk_mib": int(mib)} if mib else {}),
                                                "disks_kept": bool(kept)}),
    "releases": releases,
    "oldest": one_of("oldest", *RELEASES),
    "load": one_of("load", "computing", "waiting", "alone"),
    "cmdline": lambda rest: {"cmdline": rest},
    "deadline": matching(r"(\d+)", "deadline 90", lambda seconds: {"deadline": int(seconds)}),
    "kernel": one_of("kernel", "uml", "qemu"),
    "cpus": matching(r"(\d+)", "cpus 1", lambda count: {"cpus": int(count)}),
    "memory": matching(r"(\d+)M", "memory 3072M", lambda mib: {"memory_mib": int(mib)}),
    "packages": lambda rest: {"packages": rest.split()},
    "root": one_of("root", "image", "lvm", "dracut", "dracut-host-only", "dracut-without-systemd"),
    "boots": matching(r"(\d+)", "boots 3", lambda count: {"boots": int(count)}),
    "shutdown": matching(r"(forced|real)(?: within (\d+)s)?", "shutdown real, or shutdown real within 90s",
                         lambda how, seconds: {"shutdown": how, **({"shutdown_seconds": int(seconds)} if seconds else {})}),
    "headgate": one_of("headgate", "enabled", "absent", "package", "packaged", "earlier"),
    "backups": one_of("backups", "known", "none"),
    "lvm-calls": one_of("lvm_calls", "logged", "unlogged"),
    "facts-differ": matching(r"(\w.*)", "facts-differ a disk does not answer", lambda reason: {"facts_differ": reason}),
    "summary": one_of("summary", "checks", "bench"),
    "contenders": lambda rest: {"contenders": rest.split()},
}


def disk_number(text, disks):
    """5, or N for the last disk, or N-3."""
    return sum(map(int, text.replace("N", str(disks)).replace("-", " -").split()))


def named_layout(name):
    path = FOLDER / "layouts" / name
    if not path.is_file():
        raise Trouble(f"no layout '{name}'; there are: {' '.join(sorted(p.name for p in path.parent.iterdir()))}")
    return significant_lines(path.read_text())


def significant_lines(text):
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def indented_block(lines):
    """Take the indented lines at the beginning of a list off it; return them without what all are indented by."""
    block = []
    while lines and lines[0][0] in " \t":
        block.append(lines.pop(0))
    return textwrap.dedent("\n".join(block)).splitlines()
