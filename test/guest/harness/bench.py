# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statistics of the benchmarks of boot and of teardown."""

from statistics import median

# What is compared with what, where both took part.
RATIOS = [("headgate", "floor"), ("headgate", "stock"), ("stock", "floor"), ("direct", "headgate"), ("direct", "floor"),
          ("headgate", "vgchange"), ("headgate", "blkdeactivate"), ("headgate", "serial"),
          ("headgate", "headgate-serial"), ("headgate-teardown", "floor"), ("headgate-teardown", "serial"),
          ("vgchange", "floor"), ("serial", "floor"), ("headgate-stock-rules", "floor"), ("headgate", "headgate-stock-rules"),
          ("headgate-stock-rules", "stock"), ("floor-fast", "floor"), ("coldplug", "floor"), ("kernel", "floor"),
          *((f"{kind}-{one}", f"{kind}-lvm2") for kind in ("linear", "striped") for one in ("headgate", "lvm2-again")),
          ("linear-lvm2", "disk"), ("striped-lvm2", "disk")]


def summary(report, disks, versions):
    """Make the content of the JSON file from lines "ROUND CONTENDER MICROSECONDS FIGURE=NUMBER...".

    Of further figures the median is told, of peaks the highest. The time of a contender that was stopped at its limit
    ("over_limit=1") is the least that it can be: then so is the median, and a ratio to it is the most.
    """
    seconds, figures, stopped = {}, {}, set()
    for line in report.text("data/rounds").splitlines():
        _, contender, duration, *others = line.split()
        seconds.setdefault(contender, []).append(int(duration) / 1e6)
        for name, number in (other.split("=") for other in others):
            if name == "over_limit":
                stopped.add(contender)
                continue
            numbers = figures.setdefault(name, {}).setdefault(contender, [])
            numbers.append(float(number) if "." in number else int(number))
    content = {
        "disks": disks,
        "rounds": max(map(len, seconds.values()), default=0),
        "contenders": {contender: {"median_s": round(median(times), 3), "min_s": round(min(times), 3),
                                   "max_s": round(max(times), 3),
                                   **({"stopped_at_limit": True} if contender in stopped else {}),
                                   **{name: round((max if name.startswith("peak_") else median)(rows[contender]), 3)
                                      for name, rows in figures.items()}}
                       for contender, times in seconds.items()},
        "ratios": ratios(without(stopped, seconds)),
    }
    at_most = {f"{one}/{other}": round(median(seconds[one]) / min(seconds[other]), 4)
               for one, other in RATIOS if one in seconds and one not in stopped and other in stopped}
    if at_most:
        content["ratios_at_most"] = at_most
    if "ended_s" in figures:
        content["ratios_ended"] = ratios(without(stopped, figures["ended_s"]))
    return content | {"versions": versions}


def without(stopped, seconds):
    return {name: times for name, times in seconds.items() if name not in stopped}


def ratios(seconds):
    """The median over the rounds of each round's ratio: what slows down a whole round does not count."""
    return {f"{one}/{other}": round(median(a / b for a, b in zip(seconds[one], seconds[other])), 4)
            for one, other in RATIOS if one in seconds and other in seconds}
