# SPDX-License-Identifier: LGPL-2.1-or-later
"""A guest in user-mode Linux whose root file system is an LV, and whose initrd dracut has made.

It boots as an installed machine does: kernel, initrd, the LV, systemd. The disk with the LV is kept from boot to boot. dracut takes
minutes in a guest, so that it runs on the host, once; what headgate's module puts into an initrd is appended to it (inside/dracut-words).
The other disks are attached by a script in the initrd, so that they are there as early as on any machine.
"""

import os
import shutil
import tempfile
from pathlib import Path

from harness import image, layout, payload
from harness.cache import made
from harness.disks import MIB, Maker
from harness.machine_uml import Uml
from harness.progress import command, key_of, need_packages, package_version, say
from harness.root_lvm import VOLUME

PACKAGES = ["dracut", "zstd"]
DISK_MIB = 640
# What a machine of this kind needs, so that dracut is done in seconds, and packed as fast as can be.
DRACUT = """hostonly="no"
compress="cat"
dracutmodules=" base dm dracut-systemd fs-lib guest lvm rootfs-block shutdown systemd systemd-initrd systemd-journald \
systemd-tmpfiles systemd-udevd udev-rules usrmount "
drivers=" dm_mod dm_raid ext4 raid1 scsi_debug sd_mod "
"""
CONFIGURATION = {
    "etc/dracut.conf.d/guest.conf": DRACUT,
    "etc/lvm/lvmlocal.conf": 'devices {\n\ttypes = [ "ubd", 16 ]\n}\n',
    "etc/fstab": f"/dev/mapper/{VOLUME.replace('/', '-')} / ext4 errors=remount-ro 0 1\n",
}
# Attaches disks in the initrd, and puts the lvm into it that the wrapper stands in for.
MODULE = payload.INSIDE / "dracut"
MODULES = "usr/lib/dracut/modules.d"
# What of the payload is needed there.
NEEDED = [f"{payload.HERE}/{name}" for name in ("attach-disks", "manifest", "scsi-disks", "settings")]


class InstalledSystem:
    """A disk in the cache, with the initrd that boots it."""

    def __init__(self, folder):
        self.disk = folder / "disk"
        self.initrd = folder / "initrd"


def installed_system(cache, kernel, suite):
    """Return the InstalledSystem, from the cache if it was made before."""
    need_packages("mmdebstrap", "e2fsprogs", "lvm2")
    wrapper = payload.compiled_program(cache, payload.INSIDE / "lvm-wrapper.c")
    key = key_of(*image.ingredients(suite), Path(__file__).read_text(), *(path.read_text() for path in sorted(MODULE.iterdir())),
                 kernel.modules.relative_to(cache), wrapper, package_version("lvm2"))
    folder = cache / f"system-dracut-{key}"

    def make():
        with tempfile.TemporaryDirectory(dir=cache, prefix="system-") as scratch:
            install(cache, Path(scratch), kernel, wrapper, suite)
            os.rename(f"{scratch}/finished", folder)
    return InstalledSystem(made(folder, make))


def install(cache, scratch, kernel, wrapper, suite):
    """Make disk and initrd in scratch/finished."""
    tree, finished = scratch / "tree", scratch / "finished"
    image.debootstrap(cache, tree, suite, [*image.packages(suite), *PACKAGES])
    say("building the system on LVM: initrd")
    shutil.copytree(kernel.modules, tree / "usr/lib/modules" / kernel.modules.name, symlinks=True)
    command("chroot", tree, "depmod", kernel.modules.name)
    image.furnish(tree)
    furnish(tree, wrapper)
    command("unshare", "--mount", "sh", "-c", 'for name in proc sys dev; do mount --rbind "/$name" "$1/$name"; done; '
            'exec chroot "$1" dracut --quiet --force /initrd "$2"', "sh", tree, kernel.modules.name)
    finished.mkdir()
    shutil.move(tree / "initrd", finished / "initrd")
    say("building the system on LVM: disk")
    disk = Maker(scratch, 1, DISK_MIB)
    group, name = VOLUME.split("/")
    disk.run(layout.expand([f"vgcreate {group} d1", f"lvcreate -n {name} -l 90%VG {group}", f"mkfs ext4 {VOLUME} -d {tree}"], 1))
    os.rename(disk.images[0], finished / "disk")


def furnish(tree, wrapper):
    """What an installed system has, and what counts the lvm commands in the initrd, too."""
    for name, text in CONFIGURATION.items():
        (tree / name).write_text(text)
    os.rename(tree / "usr/sbin/lvm", tree / "usr/sbin/lvm.real")
    shutil.copy(wrapper, tree / "usr/sbin/lvm")
    shutil.copytree(MODULE, tree / MODULES / "99guest")


class UmlRootDracut(Uml):
    """The same machine, with the root disk of an installed system, and an initrd of its own."""

    def __init__(self, folder, kernel, system, scenario, disk_set):
        super().__init__(folder, kernel, system.disk, scenario, disk_set)
        self.initrd = system.initrd
        # It is unpacked into memory, and freed late.
        self.memory += 2 * self.initrd.stat().st_size // MIB

    def root_words(self):
        """Append what is of this boot only to the initrd."""
        scratch, initrd = self.folder / "in-initrd", self.folder / "initrd"
        before = self.folder / "report" / str(self.boot - 1)
        shutil.rmtree(scratch, ignore_errors=True)
        if (before / "in-initrd").exists():
            shutil.copytree(before / "in-initrd", scratch)
        scratch.mkdir(exist_ok=True)
        command("tar", "-xf", self.folder / "payload.tar", "-C", scratch, *NEEDED)
        if (before / "kept").exists():
            shutil.copy(before / "kept", scratch / payload.HERE)
        shutil.copy(self.initrd, initrd)
        # The kernel finds another archive behind zeros.
        os.truncate(initrd, -(-initrd.stat().st_size // 512) * 512)
        command("sh", "-c", 'find . | cpio --quiet -o -H newc -R 0:0 >> "$1"', "sh", initrd, cwd=scratch)
        return [f"initrd={initrd}", f"root=/dev/mapper/{VOLUME.replace('/', '-')}", "ro"]
