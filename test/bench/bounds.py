# SPDX-License-Identifier: LGPL-2.1-or-later
"""What must hold of benchmarks: the guest that is booted, and how large a figure of its results may be.

Those of SHORT are for test/check, on machines that others use, too: against regressions. Those of FULL are the bounds
proper, for test/check --all, and so are all that need two processors, which are emulated where there is no KVM. The
figures are those of a benchmark's JSON, see test/guest/README.md. One round or two show that a bound holds; what is
in doubt is measured with five.
"""

from dataclasses import dataclass


@dataclass
class Bounded:
    scenario: str
    kernel: str
    disks: int
    rounds: int
    contenders: str
    bounds: dict                                # figure in the JSON -> the most that it may be
    seconds: int                                # that it takes, roughly
    wide: bool = False                          # the bounds hold beside another benchmark

    @property
    def limit(self):
        """Seconds that one turn of a contender may take; as long as all turns together is too long for any."""
        return max(self.seconds, 120)


@dataclass
class Compared:
    """A figure of one scenario, divided by the same of another."""
    scenarios: tuple
    figure: str
    disks: int
    bound: float
    seconds: int


# What boot waits for must not wait for the disks of others: the same boot with nothing on these is the measure.
def first(disks, seconds):
    return Compared(("first", "first-blank"), "first_ms", disks, 1.3, seconds)


# A VG that is known by a hint goes first like one that is named.
def first_uuids(disks, seconds):
    return Compared(("first-uuids", "first"), "first_ms", disks, 1.1, seconds)


# The slowest contenders, stock and blkdeactivate, take most of the time of a benchmark and change with nothing that is done here.
SHORT = {
    "bench-uml": Bounded("bench-boot", "uml", 64, 2, "headgate,floor", {"ratios.headgate/floor": 0.65}, 60),
    "teardown-uml": Bounded("bench-teardown", "uml", 64, 2, "headgate,vgchange",
                            {"ratios.headgate/vgchange": 0.5, "contenders.headgate.peak_kib": 16384}, 60),
    "dracut": Bounded("bench-dracut", "uml", 16, 1, "stock,headgate", {"ratios.headgate/stock": 1.3, "ratios_ended.headgate/stock": 0.8}, 60),
}


# headgate's program takes its time to start, however few disks there are: with one 0.55 of vgchange's time, with four 0.3.
def small_teardown(kernel):
    return Bounded("bench-teardown", kernel, 1, 9, "headgate,vgchange",
                   {"ratios.headgate/vgchange": 1.0, "ratios_ended.headgate/vgchange": 1.0}, 180, wide=kernel == "uml")


FULL = {
    "first": first(500, 250),
    # That these VGs go first with as many disks as there can be is held by "first": they are named by fstab, too.
    "first-uuids": first_uuids(250, 150),
    "bench-uml": Bounded("bench-boot", "uml", 100, 2, "stock,headgate,headgate-stock-rules,direct,floor",
                         {"ratios.headgate/floor": 0.6, "ratios.headgate/stock": 0.22, "ratios.direct/headgate": 1.05,
                          "ratios.headgate-stock-rules/floor": 1.05, "ratios.headgate-stock-rules/stock": 0.40}, 300),
    "bench-qemu": Bounded("bench-boot", "qemu", 64, 2, "headgate,headgate-stock-rules,floor",
                          {"ratios.headgate/floor": 0.40, "ratios.headgate-stock-rules/floor": 0.65}, 250),
    "dracut": Bounded("bench-dracut", "uml", 16, 9, "stock,headgate",
                      {"ratios.headgate/stock": 1.1, "ratios_ended.headgate/stock": 0.7}, 350),
    # 15 and 50 times as fast. "headgate deactivate" also takes lvm2's locks and listens to udev.
    "teardown-qemu": Bounded("bench-teardown", "qemu", 500, 1, "headgate-teardown,headgate,serial,floor",
                             {"ratios.headgate-teardown/floor": 1.5, "ratios.headgate/floor": 1.5,
                              "ratios.headgate/serial": 0.0667}, 800),
    "teardown-uml": Bounded("bench-teardown", "uml", 250, 1, "headgate,blkdeactivate",
                            {"ratios.headgate/blkdeactivate": 0.02}, 500, wide=True),
    **{f"teardown-{kernel}-1": small_teardown(kernel) for kernel in ("uml", "qemu")},
    "teardown-memory": Bounded("bench-teardown", "uml", 1000, 1, "headgate", {"contenders.headgate.peak_kib": 16384}, 400, wide=True),
}
