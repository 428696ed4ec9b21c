# SPDX-License-Identifier: LGPL-2.1-or-later
"""A guest in qemu: two CPUs if not said otherwise, and disks on a virtio-scsi bus."""

import resource

from harness import accelerator
from harness.machine import LOG_WORDS, Machine, run_guest
from harness.progress import command

# The kernel's part of a disk beyond the system itself.
OVERHEAD_MIB = 1
BASE_MIB = 960
MIB = 1 << 20
# A controller has 256 targets. A disk is a target of its own, so that its address follows from its number.
TARGETS = 256


class Qemu(Machine):
    """Starts a guest with a copy of the base image, and with disks that keep what is written to them, too."""

    def __init__(self, folder, kernel, base, scenario, disk_set):
        super().__init__(folder, scenario)
        self.kernel = kernel
        self.disks = scenario.disks
        self.cpus = scenario.cpus
        self.disk_bytes = scenario.disk_mib * MIB
        self.memory = max(scenario.memory_mib, BASE_MIB) + scenario.disks * OVERHEAD_MIB
        command("cp", "--sparse=always", base, folder / "root.raw")
        disk_set.write_raw(folder / "disks.raw", scenario.disks, scenario.disk_mib)

    def run(self, deadline, follow):
        """Boot, and wait until the guest has powered itself off."""
        # The order of the drives is that of their names in the guest: vda, vdb, vdc, vdd.
        words = accelerator.qemu(self.kernel.accelerator, self.kernel, self.memory,
                                 f"mitigations=off loglevel=5 systemd.log_color=0 {self.root_words()} "
                                 f"{LOG_WORDS} guest_boot={self.boot} "
                                 f"guest_payload=/dev/vdb guest_results=/dev/vdc "
                                 f"{'guest_previous=/dev/vdd' if self.previous else ''} {self.cmdline}", self.cpus)
        words += ["-drive", f"if=virtio,format=raw,cache=unsafe,file={self.folder}/root.raw",
                  "-drive", f"if=virtio,format=raw,read-only=on,file={self.folder}/payload.tar",
                  "-drive", f"if=virtio,format=raw,cache=unsafe,file={self.folder}/results.tar"]
        if self.previous:
            words += ["-drive", f"if=virtio,format=raw,read-only=on,file={self.previous}"]
        # The usual limit is 1024 files; each disk has one of its own.
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        run_guest([*words, *self.scsi_disks()], self.folder / "console.log", deadline, follow)

    def root_words(self):
        return "guest_root=/dev/vda"

    def scsi_disks(self):
        """All disks lie in one file, which each opens for itself.

        If they shared one that is open, qemu would compare the permissions of each with those of each other whenever
        one is added: with 1000 disks that takes a minute, with 4000 an hour.
        """
        words = []
        for index in range(self.disks):
            controller, target = divmod(index, TARGETS)
            if target == 0:
                words += ["-device", f"virtio-scsi-pci,id=scsi{controller}"]
            words += ["-blockdev", f"driver=raw,node-name=d{index + 1},cache.no-flush=on,"
                                   f"file.driver=file,file.filename={self.folder}/disks.raw,file.locking=off,"
                                   f"file.cache.no-flush=on,offset={index * self.disk_bytes},size={self.disk_bytes}",
                      "-device", f"scsi-hd,bus=scsi{controller}.0,scsi-id={target},drive=d{index + 1},"
                      f"serial=disk{index + 1},share-rw=on"]
        return words
