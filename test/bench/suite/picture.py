# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the curves: for each benchmark with several numbers of disks, time against disks, both logarithmic."""

from harness.progress import need_packages

# Easily told apart also by those who see fewer colours.
COLOURS = {"stock": "#d55e00", "headgate": "#0072b2", "headgate-stock-rules": "#009e73", "floor": "#000000",
           "coldplug": "#999999", "vgchange": "#cc79a7", "blkdeactivate": "#d55e00", "serial": "#e69f00",
           "headgate-teardown": "#56b4e9", "floor-fast": "#f0e442", "kernel": "#cc79a7"}


def curves(results):
    """Contender -> list of (disks, lowest, median, highest, whether it was stopped at its limit)."""
    found = {}
    for result in results:
        for name, row in result.get("contenders", {}).items():
            found.setdefault(name, []).append((result["disks"], row["min_s"], row["median_s"], row["max_s"],
                                               row.get("stopped_at_limit", False)))
    return {name: sorted(points) for name, points in found.items()}


def draw(path, benchmarks):
    """benchmarks: pairs of a title and results. Those with one number of disks have no curve."""
    drawn = [(title, curves(results)) for title, results in benchmarks
             if len({result["disks"] for result in results}) > 1]
    if not drawn:
        return False
    need_packages("python3-matplotlib")
    # Debian's, which need not be the one of the interpreter that runs this.
    import matplotlib                                               # pylint: disable=import-outside-toplevel
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "headgate"                # the same picture for the same figures
    from matplotlib import pyplot                                   # pylint: disable=import-outside-toplevel

    figure, axes = pyplot.subplots(1, len(drawn), figsize=(6.4 * len(drawn), 4.8), squeeze=False, layout="constrained")
    for (title, lines), axis in zip(drawn, axes[0]):
        for name, points in lines.items():
            draw_curve(axis, name, points)
        ticks = sorted({point[0] for points in lines.values() for point in points})
        axis.set(xscale="log", yscale="log", xlabel="disks", ylabel="seconds", title=title)
        axis.set_xticks(ticks, labels=list(map(str, ticks)))
        axis.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter("{x:g}")
        lowest, highest = axis.get_ylim()
        # Within one power of ten there are few others.
        axis.tick_params(axis="y", which="minor", labelleft=highest < 10 * lowest)
        axis.grid(alpha=0.3)
        axis.legend()
    figure.savefig(path, metadata={"Date": None})
    return True


def draw_curve(axis, name, points):
    disks, lowest, medians, highest, stopped = zip(*points)
    colour = COLOURS.get(name)
    axis.plot(disks, medians, marker="o", markersize=4, label=name, color=colour)
    axis.fill_between(disks, lowest, highest, alpha=0.15, color=colour)
    for point in (point for point in points if point[4]):
        axis.annotate("longer", (point[0], point[2]), textcoords="offset points", xytext=(4, 6), color=colour)
