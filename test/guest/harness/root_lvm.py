# SPDX-License-Identifier: LGPL-2.1-or-later
"""A guest whose root file system is an LV, and whose initrd is Debian's own, made by initramfs-tools.

It boots as an installed machine does: kernel, initrd, the LV, systemd. The disk with the LV is kept from boot to boot,
and an initrd that the guest has made is what its next boot starts with.
"""

import os
import shutil
import tempfile
from pathlib import Path

from harness import image, kernel_qemu, layout, payload
from harness.cache import made
from harness.disks import Maker
from harness.machine_qemu import Qemu
from harness.progress import command, key_of, need_packages, package_version, say

PACKAGES = ["initramfs-tools", "busybox", "zstd", "linux-image-cloud-amd64"]
VOLUME = "system/root"
DISK_MIB = 1536
# In the initrd there may be an lvm for each disk at once, each with memory that it has locked.
LVM_MIB = 24
# What a machine of this kind needs, packed as fast as Debian's compressor can. All else is as Debian sets it.
CONFIGURATION = {
    "etc/initramfs-tools/conf.d/guest": "MODULES=list\nCOMPRESSLEVEL=1\n",
    "etc/initramfs-tools/modules": "virtio_pci\nvirtio_blk\nvirtio_scsi\nsd_mod\next4\n",
    "etc/fstab": f"/dev/mapper/{VOLUME.replace('/', '-')} / ext4 errors=remount-ro 0 1\n",
}
# Beside the wrapper that notes calls, the initrd needs the lvm that it stands in for.
HOOK = Path(__file__).parent.parent / "inside" / "initramfs-hook"


class InstalledSystem:
    """A disk in the cache, with the kernel and the initrd that boot it. A machine takes it for its kernel."""

    def __init__(self, folder, accelerator):
        self.disk = folder / "disk"
        self.image = folder / "vmlinuz"
        self.initrd = folder / "initrd"
        self.accelerator = accelerator


def installed_system(cache, accelerator, suite):
    """Return the InstalledSystem, from the cache if it was made before."""
    need_packages("mmdebstrap", "e2fsprogs", "lvm2")
    wrapper = payload.compiled_program(cache, payload.INSIDE / "lvm-wrapper.c")
    key = key_of(*image.ingredients(suite), Path(__file__).read_text(), HOOK.read_text(), wrapper, package_version("lvm2"))
    folder = cache / f"system-{key}"

    def make():
        with tempfile.TemporaryDirectory(dir=cache, prefix="system-") as scratch:
            install(cache, Path(scratch), wrapper, suite)
            os.rename(f"{scratch}/finished", folder)
    return InstalledSystem(made(folder, make), accelerator)


def install(cache, scratch, wrapper, suite):
    """Make disk, vmlinuz and initrd in scratch/finished."""
    tree, finished = scratch / "tree", scratch / "finished"
    image.debootstrap(cache, tree, suite, [*image.packages(suite), *PACKAGES])
    say("building the system on LVM: initrd")
    image.furnish(tree)
    furnish(tree, wrapper)
    command("chroot", tree, "update-initramfs", "-c", "-k", next((tree / "usr/lib/modules").iterdir()).name)
    finished.mkdir()
    shutil.copy(kernel_qemu.image_in(tree), finished / "vmlinuz")
    shutil.copy(next(tree.glob("boot/initrd.img-*")), finished / "initrd")
    say("building the system on LVM: disk")
    disk = Maker(scratch, 1, DISK_MIB)
    group, name = VOLUME.split("/")
    disk.run(layout.expand([f"vgcreate {group} d1", f"lvcreate -n {name} -l 100%FREE {group}",
                            f"mkfs ext4 {VOLUME} -d {tree}"], 1))
    os.rename(disk.images[0], finished / "disk")


def furnish(tree, wrapper):
    """What an installed system has, and what counts the lvm commands in the initrd, too."""
    for name, text in CONFIGURATION.items():
        (tree / name).write_text(text)
    os.rename(tree / "usr/sbin/lvm", tree / "usr/sbin/lvm.real")
    shutil.copy(wrapper, tree / "usr/sbin/lvm")
    shutil.copy(HOOK, tree / "usr/share/initramfs-tools/hooks/guest")
    (tree / "usr/share/initramfs-tools/hooks/guest").chmod(0o755)


class QemuRootLvm(Qemu):
    """The same machine, with the root disk of an installed system that is written to, and an initrd of its own."""

    def __init__(self, folder, system, scenario, disk_set):
        super().__init__(folder, system, system.disk, scenario, disk_set)
        self.memory += scenario.disks * LVM_MIB
        shutil.copy(system.initrd, folder / "initrd")
        system.initrd = folder / "initrd"

    def hand_over(self, report):
        """Take an initrd, too."""
        super().hand_over(report)
        os.replace(report.folder / "initrd", self.kernel.initrd)

    def root_words(self):
        return f"root=/dev/mapper/{VOLUME.replace('/', '-')} ro init=/usr/lib/guest/stage-one"
