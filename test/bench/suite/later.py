# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a boot with headgate may take at most, beside one with stock lvm2 of the same machine."""

FACTOR, GRACE_S = 1.1, 0.05
FIGURES = {"last LV": "median_s", "mount": "mount_s", "running": "running_s"}


def has_bound(result):
    return "row" in result and {"stock", "headgate"} <= result["contenders"].keys()


def later(result):
    """The figures that are above the bound, by name."""
    stock, headgate = result["contenders"]["stock"], result["contenders"]["headgate"]
    return [name for name, figure in FIGURES.items() if figure in stock and headgate[figure] > FACTOR * stock[figure] + GRACE_S]
