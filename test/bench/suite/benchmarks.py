# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the suite measures: for each benchmark the guests that it boots, and with which numbers of disks."""

from dataclasses import dataclass, field


@dataclass
class Benchmark:
    name: str
    title: str
    scenario: str
    disks: list                                     # one guest for each number; None: what the scenario says
    contenders: list = field(default_factory=list)  # of which the guest lets each have a turn; none: it is no contest
    kernel: str = "uml"
    rounds: int = 3
    layouts: list = field(default_factory=lambda: [None])   # one guest for each, too
    figure: str = "median_s"                        # that is drawn
    others: list = field(default_factory=list)      # scenarios that are compared with the first, as if contenders


BENCHMARKS = {benchmark.name: benchmark for benchmark in [
    Benchmark("boot", "from the first event of coldplug to the last LV; N VGs of one PV and one LV", "bench-boot",
              [16, 64, 256], ["headgate", "headgate-stock-rules", "floor", "floor-fast", "coldplug", "kernel", "stock"]),
    Benchmark("boot-two-cpus", "the same on two emulated CPUs", "bench-boot", [64],
              ["headgate", "headgate-stock-rules", "floor", "coldplug", "kernel"], kernel="qemu"),
    Benchmark("multi", "VGs of many PVs: one of 350 with 350, 50 and 5 copies of its metadata; 35 of 10 PVs",
              "bench-boot", [350], ["stock", "headgate", "floor"], rounds=2,
              layouts=["one-vg", "one-vg-50-metadata-copies", "one-vg-5-metadata-copies", "ten-pvs-per-vg"]),
    Benchmark("lvs", "many LVs in one VG: from the first event of coldplug to the last; 50 more made and removed; all gone",
              "bench-lvs", [2], ["headgate", "stock"], layouts=["linear-250", "linear-1000"]),
    Benchmark("lvs-thin", "the same of a thin pool with 250 volumes", "bench-lvs", [2], ["headgate", "stock"],
              layouts=["thin-250"]),
    Benchmark("lvs-striped", "the same of 200 LVs with 8 stripes each, on 100 PVs", "bench-lvs", [100], ["headgate", "stock"],
              layouts=["striped-200"]),
    Benchmark("lvs-snapshots", "the same of an LV with 100 snapshots; 5 made and removed", "bench-lvs", [2], ["headgate", "stock"],
              layouts=["snapshot-100"]),
    Benchmark("event", "one more disk where N - 14 are there: until its LV is up, and what it costs", "bench-event",
              [24, 114, 1014], ["stock", "headgate"], rounds=5),
    Benchmark("arrivals", "disks 10 ms apart; headgate believes to have 1, 2, 16 or 64 processors", "bench-arrivals", [256],
              ["stock", "headgate-1", "headgate-2", "headgate-16", "headgate-64"]),
    Benchmark("first", "what boot waits for, 3 VGs among N, is mounted; the same with all others blank", "first",
              [1000], rounds=1, others=["first-blank"]),
    Benchmark("first-uuids", "what boot waits for, 3 VGs among N, is mounted by UUID; the same by name", "first-uuids",
              [1000], rounds=1, others=["first"]),
    Benchmark("ordinary", "boots of machines that people have, one a row: from the start of systemd to the last LV", "bench-ordinary",
              [None], ["stock", "headgate"], rounds=5),
    Benchmark("dracut", "boots with an initrd as dracut makes it (stock), and with one that headgate has narrowed: from the start of the "
              "kernel to the last LV; N VGs of one PV and one LV", "bench-dracut", [16, 64], ["stock", "headgate"], rounds=5),
    Benchmark("teardown", "from the start of the program until no LV is left; N VGs of one PV and one LV",
              "bench-teardown", [1, 4, 16, 64, 256, 1000],
              ["headgate-teardown", "headgate", "vgchange", "blkdeactivate", "serial", "floor"], kernel="qemu"),
    Benchmark("slow-umount", "two file systems of half a million files are unmounted at shutdown beside 62 others",
              "bench-slow-umount", [64], rounds=1, kernel="qemu"),
    Benchmark("datapath", "transfers to and from a disk, a linear LV and one striped over four disks",
              "bench-datapath", [6], ["disk", "linear-lvm2", "linear-lvm2-again", "linear-headgate", "striped-lvm2",
                                      "striped-lvm2-again", "striped-headgate"], rounds=7, kernel="qemu"),
]}
