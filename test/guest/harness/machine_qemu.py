# SPDX-License-Identifier: LGPL-2.1-or-later
"""A guest in qemu: two CPUs, and disks on a virtio-scsi bus."""

from harness import accelerator
from harness.machine import run_guest

# The kernel's part of a disk beyond the system itself.
OVERHEAD_MIB = 1
BASE_MIB = 960
MIB = 1 << 20
# A controller has 256 targets. A disk is a target of its own, so that its address follows from its number.
TARGETS = 256


class Qemu:
    """Starts a guest in a folder of its own. The base image is only read: writes go to a temporary snapshot."""

    def __init__(self, folder, kernel, base, scenario, disk_set):
        self.folder = folder
        self.kernel = kernel
        self.base = base
        self.disks = scenario.disks
        self.disk_bytes = scenario.disk_mib * MIB
        self.memory = BASE_MIB + scenario.disks * OVERHEAD_MIB
        self.cmdline = scenario.cmdline
        disk_set.write_raw(folder / "disks.raw", scenario.disks, scenario.disk_mib)

    def run(self, seconds, follow):
        """Boot, wait until the guest has powered itself off, and return whether it did."""
        # The order of the drives is that of their names in the guest: vda, vdb, vdc.
        words = accelerator.qemu(self.kernel.accelerator, self.kernel, self.memory,
                                 f"mitigations=off loglevel=5 systemd.log_color=0 {self.root_words()} "
                                 f"guest_payload=/dev/vdb guest_results=/dev/vdc {self.cmdline}")
        words += ["-drive", self.root_drive(),
                  "-drive", f"if=virtio,format=raw,read-only=on,file={self.folder}/payload.tar",
                  "-drive", f"if=virtio,format=raw,cache=unsafe,file={self.folder}/results.tar"]
        # qemu makes the snapshot in TMPDIR.
        return run_guest([*words, *self.scsi_disks()], self.folder / "console.log", seconds, follow,
                         TMPDIR=str(self.folder))

    def root_words(self):
        return "guest_root=/dev/vda"

    def root_drive(self):
        return f"if=virtio,format=raw,snapshot=on,file={self.base}"

    def scsi_disks(self):
        """All disks lie in one file. A disk shares it with the others, though no part of it."""
        words = ["-blockdev", f"driver=file,node-name=disks,cache.no-flush=on,locking=off,"
                              f"filename={self.folder}/disks.raw"]
        for index in range(self.disks):
            controller, target = divmod(index, TARGETS)
            if target == 0:
                words += ["-device", f"virtio-scsi-pci,id=scsi{controller}"]
            words += ["-blockdev", f"driver=raw,node-name=d{index + 1},file=disks,cache.no-flush=on,"
                                   f"offset={index * self.disk_bytes},size={self.disk_bytes}",
                      "-device", f"scsi-hd,bus=scsi{controller}.0,scsi-id={target},drive=d{index + 1},"
                      f"serial=disk{index + 1},share-rw=on"]
        return words
