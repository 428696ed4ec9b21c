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
SUITES = ("bookworm", "trixie")


@dataclass
class Scenario:
    name: str
    title: str = ""
    disks: int = 0
    disk_mib: int = 2
    layout: list = field(default_factory=list)
    late: list = field(default_factory=list)
    files: dict = field(default_factory=dict)       # path in the guest -> text
    cmdline: str = ""
    deadline: int = 90                              # seconds from boot to the end of the body, in each boot
    kernel: str = "uml"
    suite: str = "bookworm"
    memory_mib: int = 0                             # more than what the machine would have by itself
    packages: list = field(default_factory=list)    # of Debian, beside what every guest has
    root: str = "image"
    boots: int = 1
    shutdown: str = "forced"
    shutdown_seconds: int = 60                      # that a real shutdown may take
    headgate: str = "enabled"
    backups: str = "known"
    lvm_calls: str = "logged"
    summary: str = "checks"
    contenders: list = field(default_factory=list)
    body: str = ""


def names():
    return sorted(path.name for path in (FOLDER / "scenarios").iterdir() if path.is_file())


def read(name, disks=None, layout=None):
    """Read a scenario; disks, if given, replaces the number of disks in its header, and layout its layout."""
    path = FOLDER / "scenarios" / name
    if not path.is_file():
        raise Trouble(f"no scenario '{name}'; there are: {' '.join(names())}")
    header, divider, body = path.read_text().partition(f"\n{DIVIDER}\n")
    if not divider:
        raise Trouble(f"{path}: no line '{DIVIDER}' between header and body")
    scenario = Scenario(name, body=body)
    lines = significant_lines(header)
    titles = [line.lstrip("# ") for line in header.splitlines() if line.startswith("#") and "SPDX" not in line]
    scenario.title = next((title for title in titles if title), "")
    late = None
    while lines:
        word, _, rest = lines.pop(0).partition(" ")
        rest = rest.strip()
        block = indented_block(lines)
        if word == "disks":
            match = re.fullmatch(r"(\d+)(?: of (\d+)M)?", rest)
            if not match:
                raise Trouble(f"{path}: 'disks {rest}' should be like 'disks 16' or 'disks 4 of 32M'")
            scenario.disks, scenario.disk_mib = int(match[1]), int(match[2] or scenario.disk_mib)
        elif word == "layout":
            scenario.layout = block or named_layout(rest)
        elif word == "late":
            late = rest
        elif word == "file":
            scenario.files[rest] = "".join(f"{line}\n" for line in block)
        elif word in ("cmdline", "headgate", "backups", "summary", "root", "kernel", "suite"):
            setattr(scenario, word, rest)
        elif word == "shutdown":
            match = re.fullmatch(r"(forced|real)(?: within (\d+)s)?", rest)
            if not match:
                raise Trouble(f"{path}: 'shutdown {rest}' should be like 'shutdown real' or 'shutdown real within 90s'")
            scenario.shutdown, scenario.shutdown_seconds = match[1], int(match[2] or scenario.shutdown_seconds)
        elif word in ("deadline", "boots"):
            setattr(scenario, word, int(rest))
        elif word == "memory":
            scenario.memory_mib = int(rest.removesuffix("M"))
        elif word in ("contenders", "packages"):
            setattr(scenario, word, rest.split())
        elif word == "lvm-calls":
            scenario.lvm_calls = rest
        else:
            raise Trouble(f"{path}: unknown header word '{word}'")
    if scenario.root not in ("image", "lvm"):
        raise Trouble(f"{path}: 'root {scenario.root}' should be 'root image' or 'root lvm'")
    if scenario.kernel not in ("uml", "qemu"):
        raise Trouble(f"{path}: 'kernel {scenario.kernel}' should be 'kernel uml' or 'kernel qemu'")
    if scenario.suite not in SUITES:
        raise Trouble(f"{path}: 'suite {scenario.suite}' should be one of {' '.join(SUITES)}")
    scenario.disks = disks or scenario.disks
    if layout:
        scenario.layout = named_layout(layout)
    if late:
        first, last = (disk_number(bound, scenario.disks) for bound in late.split(".."))
        scenario.late = list(range(first, last + 1))
    return scenario


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
