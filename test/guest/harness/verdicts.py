# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares what stock lvm2 and headgate have made of the same cases, and prints a table."""

import re
from collections import defaultdict
from dataclasses import dataclass, field

from harness.cases import KINDS

NUMBER = re.compile(r"(?<!\S)(\d+:\d+)(?!\S)")


@dataclass
class Outcome:
    """What was there in the end, as lines: names and UUIDs, tables with names for numbers, links."""
    devices: list
    tables: list
    links: list

    @property
    def lvs(self):
        return {line.split(":")[0] for line in self.devices}

    def lines(self):
        return self.devices + self.tables + self.links


def read_outcome(folder):
    if not (folder / "devices").exists():
        return None
    names = dict(line.split(maxsplit=1) for line in lines_of(folder / "devices"))
    tables = [NUMBER.sub(lambda match: names.get(match[1], match[1]), line) for line in lines_of(folder / "table")]
    return Outcome(*([line for line in lines if line != "No devices found"]
                     for lines in (lines_of(folder / "info"), tables, lines_of(folder / "links"))))


def lines_of(path):
    return path.read_text(errors="replace").splitlines()


def more_in(*kinds):
    """Whether headgate has activated all that stock lvm2 has, and more, in a case of one of these kinds."""
    return lambda case, theirs, ours: not set(kinds).isdisjoint(case.kinds) and set(theirs.lines()) < set(ours.lines())


def less_in(*kinds):
    """Whether headgate has activated nothing but what stock lvm2 has, in a case of one of these kinds."""
    return lambda case, theirs, ours: not set(kinds).isdisjoint(case.kinds) and set(ours.lines()) < set(theirs.lines())


def other_twin(case, theirs, ours):
    """Whether all that is different is which of two devices with the same PV is used."""
    if case.paced:
        return False
    twins = [device.removeprefix("/dev/") for pv, device in zip(case.arrivals, case.device_names()) if pv.twin]
    pattern = re.compile(rf"(?<!\S)({'|'.join(twins)})(?!\S)")
    return bool(twins) and len({(*outcome.devices, *outcome.links, *sorted(pattern.sub("twin", line)
                                                                          for line in outcome.tables))
                                for outcome in (theirs, ours)}) == 1


# Differences that are by design: a name, under which headgate-differences(7) gives the reason, and when it applies to a
# case, of which stock lvm2 has made one thing and headgate another.
EXPLANATIONS = {
    "links in filters": more_in("filter-by-id", "global-filter-by-id"),
    "stale records": more_in("stale-claim", "stale-lookup", "stale-record-moved"),
    "older metadata": more_in("outdated-asleep", "extended"),
    "one of two": other_twin,
    "one UUID": less_in("same-id"),
}


@dataclass
class Verdicts:
    same: list = field(default_factory=list)
    explained: list = field(default_factory=list)       # pairs with the name of the explanation
    different: list = field(default_factory=list)
    active: dict = field(default_factory=dict)          # case number -> whether stock lvm2 has activated something
    problems: list = field(default_factory=list)


def compare(cases, stock, headgate, manual):
    """`stock` and `headgate` are the folders with the outcomes, `manual` is the text of the manual page."""
    verdicts = Verdicts()
    for name in EXPLANATIONS:
        if f"*{name}*" not in manual:
            verdicts.problems.append(f"headgate-differences(7) does not explain {name}")
    for case in cases:
        ours, theirs = read_outcome(headgate / str(case.number)), read_outcome(stock / str(case.number))
        if not ours or not theirs:
            verdicts.problems.append(f"case {case.number} was not run by {'headgate' if theirs else 'stock lvm2'}")
            continue
        verdicts.active[case.number] = bool(theirs.lvs)
        if ours == theirs:
            verdicts.same.append(case)
            continue
        explanation = next((name for name, applies in EXPLANATIONS.items() if applies(case, theirs, ours)), None)
        if explanation:
            verdicts.explained.append((case, explanation))
        else:
            verdicts.different.append(case)
            print_difference(case, theirs, ours)
    return verdicts


def print_difference(case, theirs, ours):
    print(f"DIFFERENT: case {case}")
    for sign, lines, others in ("-", theirs.lines(), ours.lines()), ("+", ours.lines(), theirs.lines()):
        for line in lines:
            if line not in others:
                print(f"    {sign} {line}")


def properties(case):
    """The rows of the table that a case counts for."""
    rows = set(case.kinds)
    for pv in case.pvs():
        rows.add(f"copies: {pv.copies}{' ignored' if pv.ignored and pv.copies else ''}")
    rows |= {f"LV: {volume.kind}" for volume in case.main.volumes}
    rows.add(f"PVs: {sum(not pv.left for pv in case.main.pvs)}")
    rows.add("order: paced" if case.paced else "order: burst")
    return rows


def print_table(cases, verdicts):
    """Returns problems: rows that prove nothing."""
    rows = defaultdict(lambda: dict.fromkeys(("cases", "active", "same", "explained", "different"), 0))
    different = {case.number for case in verdicts.different}
    explained = {case.number for case, _ in verdicts.explained}
    for case in cases:
        if case.number not in verdicts.active:
            continue
        verdict = "different" if case.number in different else "explained" if case.number in explained else "same"
        for row in properties(case):
            rows[row]["cases"] += 1
            rows[row]["active"] += verdicts.active[case.number]
            rows[row][verdict] += 1
    width = max(map(len, rows), default=0)
    print(f"{'':{width}}  cases  active in stock  same  explained  different")
    for row, counts in sorted(rows.items(), key=lambda item: (":" in item[0], item[0])):
        print(f"{row:{width}} {counts['cases']:6} {counts['active']:16} {counts['same']:5} {counts['explained']:10} "
              f"{counts['different']:10}")
    return [f"nothing was active in any case of {row}" for row, counts in rows.items()
            if counts["active"] == 0 and not (row in KINDS and KINDS[row].silent)]
