# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints results for people."""

HEADINGS = ("disks", "contender", "median", "spread", "CPU", "lvm", "forks")


def seconds(row, key):
    return f"{row[key]:.2f} s" if key in row else "-"


def count(row, key):
    return f"{row[key]:.0f}" if key in row else "-"


def contenders(result):
    for name, row in result["contenders"].items():
        over = "> " if row.get("stopped_at_limit") else ""
        yield (str(result["disks"]), name, over + seconds(row, "median_s"),
               f"{row['min_s']:.2f} to {row['max_s']:.2f}", seconds(row, "cpu_all_s"),
               count(row, "processes"), count(row, "forks"))


def table(rows):
    rows = [HEADINGS, *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) if column == 1 else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(row, widths))))


def ratios(result):
    return ([f"{name} {value:.3f}" for name, value in result["ratios"].items()]
            + [f"{name} < {value:.3f}" for name, value in result.get("ratios_at_most", {}).items()])


def tell(benchmark, results, growth):
    """Print what a benchmark has found."""
    print(f"\n{benchmark.name}: {benchmark.title}")
    for result in results:
        if "contenders" in result:
            print(f"\n  {result.get('layout', '')}" if result.get("layout") else "")
            table(contenders(result))
            print("  ratios: " + ", ".join(ratios(result)))
        else:
            values = ", ".join(f"{name} {value}" for name, value in result["values"].items())
            print(f"  {result['scenario']}, {result['disks']} disks: {values}")
    for name, exponents in growth.items():
        print(f"  {name} grows with N^: " + ", ".join(f"{title} {value:.2f}" for title, value in exponents.items()))
