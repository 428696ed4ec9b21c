# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who makes the initrd of an installed system, see installed: initramfs-tools or dracut, for the modules of the guest's kernel.

Each puts the lvm into it that the wrapper stands in for, and a script that attaches the disks of user-mode Linux before udev is
started, so that they are there as early as on any machine.
"""

import shutil
from pathlib import Path

from harness.payload import INSIDE
from harness.progress import command


def write(tree, files):
    """Write files into a tree: path -> text."""
    for name, text in files.items():
        (tree / name).write_text(text)


class InitramfsTools:
    """Debian's own. It runs in the guest, too: what update-initramfs makes there, the next boot starts with."""
    name = "initramfs-tools"
    packages = ["initramfs-tools", "busybox", "zstd"]
    inside = INSIDE / "initramfs-tools"
    # What machines of both kinds need, packed as fast as Debian's compressor can. All else is as Debian sets it.
    configuration = {
        "etc/initramfs-tools/conf.d/guest": "MODULES=list\nCOMPRESSLEVEL=1\n",
        "etc/initramfs-tools/modules": "virtio_pci\nvirtio_blk\nvirtio_scsi\nsd_mod\next4\n",
    }

    def make(self, tree, version, initrd):
        """Make the initrd of a tree."""
        write(tree, self.configuration)
        for name, folder in ("hook", "hooks"), ("disks", "scripts/init-top"):
            program = tree / "usr/share/initramfs-tools" / folder / "guest"
            shutil.copy(self.inside / name, program)
            program.chmod(0o755)
        # What a kernel's package would bring: its name, and what it can unpack.
        write(tree, {f"boot/vmlinuz-{version}": "", f"boot/config-{version}": "CONFIG_RD_ZSTD=y\n"})
        command("chroot", tree, "update-initramfs", "-c", "-k", version)
        shutil.copy(tree / f"boot/initrd.img-{version}", initrd)


class Dracut:
    """It takes minutes in a guest: there, only what headgate's module puts into an initrd is made, see inside/dracut-words."""
    inside = INSIDE / "dracut"

    def __init__(self, name, modules, more='hostonly="no"', packages=()):
        self.name = name
        self.packages = ["dracut", "zstd", *packages]
        # What a machine of this kind needs, so that dracut is done in seconds, and packed as fast as can be.
        self.configuration = {"etc/dracut.conf.d/guest.conf": f"""{more}
compress="cat"
dracutmodules=" base dm fs-lib guest lvm rootfs-block shutdown udev-rules usrmount {modules} "
drivers=" dm_mod dm_raid ext4 raid1 scsi_debug sd_mod virtio_blk virtio_pci virtio_scsi "
"""}

    def make(self, tree, version, initrd):
        """Make the initrd of a tree."""
        write(tree, self.configuration)
        shutil.copytree(self.inside, tree / "usr/lib/dracut/modules.d/99guest")
        command("unshare", "--mount", "sh", "-c", 'for name in proc sys dev; do mount --rbind "/$name" "$1/$name"; done; '
                'exec chroot "$1" dracut --quiet --force /initrd "$2"', "sh", tree, version)
        # Where dracut looks for the initrd that it restores at shutdown. dracut 106 can only do so if it is compressed.
        command("chroot", tree, "zstd", "-1", "--quiet", "/initrd", "-o", f"/usr/lib/modules/{version}/initrd")
        shutil.move(tree / "initrd", initrd)


SYSTEMD = "dracut-systemd systemd systemd-initrd systemd-journald systemd-tmpfiles systemd-udevd"
# As dracut makes it by default. The root's LV is not on the host, so that what dracut would find about it is said here.
HOST_ONLY = """hostonly="yes"
hostonly_cmdline="yes"
kernel_cmdline="rd.lvm.lv=system/root root=/dev/mapper/system-root rootfstype=ext4"
"""

# By the word for `root`.
MAKERS = {
    "lvm": InitramfsTools(),
    "dracut": Dracut("dracut", SYSTEMD),
    "dracut-host-only": Dracut("dracut-host-only", SYSTEMD, HOST_ONLY),
    # In Debian 14 this is where switch_root is.
    "dracut-without-systemd": Dracut("dracut-without-systemd", "", packages=["util-linux-extra"]),
}
