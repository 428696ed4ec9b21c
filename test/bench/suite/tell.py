# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results as text: on a terminal, and as the page RESULTS.md."""

from suite.growth import growth
from suite.later import has_bound, later

# For a cell without a value. A column without any value is left out.
NOTHING = "-"


def three_digits(value):
    """As exact as a measurement is."""
    return f"{value:#.3g}".removesuffix(".") if value < 1000 else f"{value:.0f}"


def seconds(key):
    return lambda result, name, row: three_digits(row[key]) if key in row else NOTHING


def number(key):
    return lambda result, name, row: f"{row[key]:.0f}" if key in row else NOTHING


def mebibytes(key):
    return lambda result, name, row: f"{row[key] / 1024:.1f}" if row.get(key) else NOTHING


def ratio_to(contender):
    def told(result, name, row):
        other = contender.format(kind=name.partition("-")[0])
        for ratios, mark in (("ratios", ""), ("ratios_at_most", "< ")):
            if (value := result.get(ratios, {}).get(f"{name}/{other}")) is not None:
                return mark + (f"{value:.2f}" if value >= 0.1 else f"{value:.3f}")
        return "1" if name == other and len(result["contenders"]) > 1 else NOTHING
    return told


def beside_stock(key):
    """The ratio of two medians."""
    def told(result, name, row):
        stock = result["contenders"].get("stock", {})
        return f"{row[key] / stock[key]:.2f}" if name != "stock" and key in row and key in stock else NOTHING
    return told


def above_bound(result, name, row):
    if "row" not in result or name != "headgate":
        return NOTHING
    return ", ".join(later(result)) or "no" if has_bound(result) else "has none"


def median(result, name, row):
    return ("> " if row.get("stopped_at_limit") else "") + three_digits(row["median_s"])


def spread(result, name, row):
    return f"{three_digits(row['min_s'])}-{three_digits(row['max_s'])}" if result["rounds"] > 1 else NOTHING


# What is told of a contender: heading, and the cell of a result, the contender's name and its figures.
COLUMNS = [
    ("layout", lambda result, name, row: result.get("layout", NOTHING)),
    ("row", lambda result, name, row: result.get("row", NOTHING)),
    ("disks", lambda result, name, row: str(result["disks"])),
    ("contender", lambda result, name, row: name),
    ("median", median),
    ("spread", spread),
    ("each", seconds("each_s")),
    ("95 %", seconds("each_late_s")),
    ("middle LV", seconds("middle_s")),
    ("mount", seconds("mount_s")),
    ("running", seconds("running_s")),
    ("ended", seconds("ended_s")),
    ("made", seconds("create_s")),
    ("removed", seconds("remove_s")),
    ("down", seconds("down_s")),
    ("worker ms", lambda result, name, row: three_digits(row["change_cpu_ms"]) if row.get("change_cpu_ms") else NOTHING),
    ("to floor", ratio_to("floor")),
    ("to stock", ratio_to("stock")),
    ("mount to stock", beside_stock("mount_s")),
    ("running to stock", beside_stock("running_s")),
    ("above", above_bound),
    ("to lvm2", ratio_to("{kind}-lvm2")),
    ("CPU", seconds("cpu_all_s")),
    ("udevd", seconds("cpu_udevd_s")),
    ("PID 1", seconds("cpu_pid1_s")),
    ("lvm2", seconds("cpu_lvm_s")),
    ("lvm runs", number("processes")),
    ("forks", number("forks")),
    ("calls", number("syscalls")),
    ("MiB", mebibytes("peak_kib")),
    ("headgated MiB", mebibytes("peak_worker_kib")),
    ("rounds", lambda result, name, row: str(result["rounds"])),
]
MACHINES = {"uml": "user-mode Linux", "qemu": "qemu, Linux"}
HEAD = """# Results

All figures in [results](results), as tables; `test/bench/run --page FILE` makes this page. [README.md](README.md) says what is
measured, and what the contenders are; [design.md](../../doc/design.md) says what follows. The guests have one processor
(user-mode Linux) or two emulated ones (qemu). In both, a process costs several times as much as on a real machine, so ratios
count, not times. Before version 7.2, user-mode Linux took three to four times as long: compare only rows of one table.

*median* and *spread* are in seconds, as is CPU time: *CPU* of all processes, and what *udevd* with its rules, *PID 1* and *lvm2*
have of it. *down* is until all LVs are gone, *worker ms* the CPU time of headgate's worker for each LV that is made or removed,
in ms. *each* is the median from a disk's event to the link of its LV, and *95 %* what all but one of twenty are below.
*middle LV*, *mount* and *running* are what else a boot of `ordinary` comes to, *above* what is later than it may be.
*lvm runs* and *forks* count processes, *calls* system calls of lvm2 and headgate. *MiB* is the highest memory.
"""


def rows_of(results):
    """Headings and rows of the contenders of all results."""
    rows = [[cell(result, name, row) for _, cell in COLUMNS]
            for result in results for name, row in result["contenders"].items()]
    used = [n for n in range(len(COLUMNS)) if any(row[n] != NOTHING for row in rows)]
    return [COLUMNS[n][0] for n in used], [[row[n] for n in used] for row in rows]


def values_of(results):
    """Likewise of what is no contest."""
    return (["scenario", "disks", "figure", "value"],
            [[result["scenario"], str(result["disks"]), name, str(value)]
             for result in results for name, value in result["values"].items()])


def tables(results):
    """For each table that results make: with what they were measured, headings, rows."""
    def origin(result):
        versions = result["versions"]
        return (f"{MACHINES[result['kernel_of_guest']]} {versions['kernel']}, systemd {versions['systemd']}, "
                f"lvm2 {versions['lvm2']}")
    for group in dict.fromkeys(map(origin, results)):
        members = [result for result in results if origin(result) == group]
        dates = sorted({result["measured"] for result in members})
        yield f"{group}; measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))}", *(rows_of if "contenders" in members[0] else values_of)(members), growth(members)


def exponents_of(found):
    for name, exponents in found.items():
        yield f"{name} grows with N^: " + ", ".join(f"{title} {value:.2f}" for title, value in exponents.items())


def tell(benchmark, results):
    """Print what a benchmark has found."""
    print(f"\n{benchmark.name}: {benchmark.title}")
    for origin, headings, rows, found in tables(results):
        print(f"\n  {origin}")
        widths = [max(len(row[column]) for row in [headings, *rows]) for column in range(len(headings))]
        for row in [headings, *rows]:
            print("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths)))
        for line in exponents_of(found):
            print(f"  {line}")


def section(benchmark, results, picture):
    yield from (f"## {benchmark.name}", "", f"{benchmark.title[0].upper()}{benchmark.title[1:]}.", "")
    if picture:
        yield from (f"![{benchmark.name}: seconds over the number of disks]({picture})", "")
    for origin, headings, rows, found in tables(results):
        yield from (f"{origin}:", "", f"| {' | '.join(headings)} |", "|---" * len(headings) + "|")
        yield from (f"| {' | '.join('' if cell == NOTHING else cell for cell in row)} |" for row in rows)
        yield from ("", *(f"* {line}" for line in exponents_of(found)), *([""] if found else []))


def page(benchmarks, results, pictures):
    """The text of the page. pictures: name of a benchmark -> file with its curve."""
    lines = [line for benchmark in benchmarks if benchmark.name in results
             for line in section(benchmark, results[benchmark.name], pictures.get(benchmark.name))]
    return "\n".join([HEAD, *lines]).rstrip("\n") + "\n"
