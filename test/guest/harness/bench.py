# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statistics of the boot benchmark."""

from statistics import median

# What is compared with what, where both took part.
RATIOS = [("headgate", "floor"), ("headgate", "stock"), ("stock", "floor"), ("direct", "headgate"), ("direct", "floor")]


def summary(report, disks, versions):
    """Make the content of the JSON file from lines "ROUND CONTENDER MICROSECONDS PROCESSES"."""
    seconds, processes = {}, {}
    for line in report.text("data/rounds").splitlines():
        _, contender, duration, count = line.split()
        seconds.setdefault(contender, []).append(int(duration) / 1e6)
        processes.setdefault(contender, []).append(int(count))
    return {
        "disks": disks,
        "rounds": min(map(len, seconds.values()), default=0),
        "contenders": {contender: {"median_s": round(median(times), 3), "min_s": round(min(times), 3),
                                   "max_s": round(max(times), 3), "processes": median(processes[contender])}
                       for contender, times in seconds.items()},
        # The median over the rounds of each round's ratio: what slows down a whole round does not count.
        "ratios": {f"{one}/{other}": round(median(a / b for a, b in zip(seconds[one], seconds[other])), 3)
                   for one, other in RATIOS if one in seconds and other in seconds},
        "versions": versions,
    }
