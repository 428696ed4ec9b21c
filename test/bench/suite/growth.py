# SPDX-License-Identifier: LGPL-2.1-or-later
"""How a figure grows with the number of disks: the exponent b of the curve a * N^b that fits best."""

from math import log

# What is asked of each contender: the JSON's name of the exponent, and the figure that it is of.
FIGURES = {"time": "median_s", "cpu": "cpu_all_s", "forks": "forks"}
# The worker's processes, without those of lvm2 that it starts.
OWN = "own"


def exponent(points):
    """Least squares on logarithms; points are pairs (disks, figure). None with fewer than two sizes, or at zero."""
    points = [(log(disks), log(figure)) for disks, figure in points if disks > 0 and figure > 0]
    if len({x for x, _ in points}) < 2:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    return (sum((x - mean_x) * (y - mean_y) for x, y in points)
            / sum((x - mean_x) ** 2 for x, _ in points))


def own_share(row):
    """Seconds of CPU of headgate's worker alone."""
    return row.get("cpu_worker_s", 0) - row.get("cpu_lvm_s", 0)


def size_and_row(result, name):
    """The number of LVs is what grows where a benchmark tells it."""
    row = result["contenders"][name]
    return row.get("lvs", result["disks"]), row


def growth(results):
    """Exponents by contender and figure. What was stopped at its limit says nothing, nor do rows, each of another machine."""
    found = {}
    names = sorted({name for result in results if "row" not in result for name in result.get("contenders", {})})
    for name in names:
        rows = [size_and_row(result, name) for result in results
                if name in result["contenders"] and not result["contenders"][name].get("stopped_at_limit")]
        wanted = {title: [(disks, row.get(figure, 0)) for disks, row in rows] for title, figure in FIGURES.items()}
        if name.startswith("headgate"):
            wanted[OWN] = [(disks, own_share(row)) for disks, row in rows]
        found[name] = {title: round(value, 3) for title, points in wanted.items()
                       if (value := exponent(points)) is not None}
    return {name: exponents for name, exponents in found.items() if exponents}
