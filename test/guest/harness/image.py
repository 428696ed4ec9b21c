# SPDX-License-Identifier: LGPL-2.1-or-later
"""The base image: a minimal Debian as one ext4 file, made once and never written to by a guest."""

import os
import shutil
import tempfile
from pathlib import Path

from harness.cache import made
from harness.progress import command, fetch, key_of, need_packages, point_release, say

PACKAGES = ["systemd", "systemd-sysv", "udev", "lvm2", "dmsetup", "kmod", "strace", "thin-provisioning-tools",
            "cryptsetup-bin", "fdisk", "mdadm"]
# What another package has had in Debian 12.
PACKAGES_SINCE = dict.fromkeys(("trixie", "forky"), ["systemd-cryptsetup", "e2fsprogs"])
UNWANTED_FILES = ["/usr/share/man/*", "/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*"]
# Whatever takes boot time and has nothing to do with storage. LVM's own units stay as Debian enables them.
MASKED_UNITS = ["apt-daily.timer", "apt-daily-upgrade.timer", "dev-mqueue.mount", "dpkg-db-backup.timer", "e2scrub_all.timer",
                "e2scrub_reap.service", "fstrim.timer", "getty.target", "mdcheck_continue.timer", "mdcheck_start.timer",
                "mdmonitor-oneshot.timer", "mdmonitor.service", "sys-fs-fuse-connections.mount",
                "sys-kernel-config.mount", "systemd-ask-password-console.path",
                "systemd-ask-password-wall.path", "systemd-hwdb-update.service", "systemd-pstore.service",
                "systemd-random-seed.service", "systemd-sysusers.service",
                "systemd-update-utmp.service", "systemd-update-utmp-runlevel.service",
                "systemd-user-sessions.service"]
STAGE_ONE = Path(__file__).parent.parent / "inside" / "stage-one"


def base_image(cache, modules, suite, more_packages):
    """Return the path of the image with these kernel modules, made first if its ingredients have changed.

    suite is a release of Debian; more_packages are installed beside what every guest has.
    """
    need_packages("mmdebstrap", "e2fsprogs")
    key = key_of(*ingredients(suite), modules, *more_packages)
    image = cache / f"base-{key}.img"
    return made(image, lambda: make_image(image, modules, suite, more_packages))


def make_image(image, modules, suite, more_packages):
    with tempfile.TemporaryDirectory(dir=image.parent, prefix="base-") as scratch:
        tree = Path(scratch) / "tree"
        say(f"building the base image: debootstrapping {suite}, about half a minute")
        debootstrap(tree, suite, [*packages(suite), *more_packages])
        say("building the base image: kernel modules, units")
        shutil.copytree(modules, tree / "usr/lib/modules" / modules.name, symlinks=True)
        command("chroot", tree, "depmod", modules.name)
        furnish(tree)
        say("building the base image: file system")
        command("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-L", "guest-root", "-d", tree, f"{scratch}/image",
                "1G")
        os.rename(f"{scratch}/image", image)


def ingredients(suite):
    """What every image is made of that may change."""
    return Path(__file__).read_text(), STAGE_ONE.read_text(), suite, point_release(suite)


def packages(suite):
    """What every guest of that release has."""
    return [*PACKAGES, *PACKAGES_SINCE.get(suite, [])]


def debootstrap(tree, suite, wanted):
    # Unpacked from a tar, not made in place: mmdebstrap refuses directories below one that others cannot enter.
    fetch(suite, f"{tree}.tar", "--variant=minbase", f"--include={','.join(wanted)}",
          *(f"--dpkgopt=path-exclude={pattern}" for pattern in UNWANTED_FILES))
    tree.mkdir()
    command("tar", "-xf", f"{tree}.tar", "-C", tree)
    os.unlink(f"{tree}.tar")


def furnish(tree):
    """Turn a debootstrapped tree into a guest: no useless units, a journal in memory, our first program."""
    for unit in MASKED_UNITS:
        link = tree / "etc/systemd/system" / unit
        link.unlink(missing_ok=True)
        link.symlink_to("/dev/null")
    (tree / "etc/systemd/system/default.target").symlink_to("/usr/lib/systemd/system/multi-user.target")
    (tree / "etc/fstab").write_text("")
    (tree / "etc/hostname").write_text("guest\n")
    # A fixed machine id: an empty one makes every boot a first boot, with presets applied.
    (tree / "etc/machine-id").write_text("6865616467617465677565737474657374"[:32] + "\n")
    journald = tree / "etc/systemd/journald.conf.d"
    journald.mkdir(parents=True)
    (journald / "guest.conf").write_text("[Journal]\nStorage=volatile\nRateLimitIntervalSec=0\n")
    program = tree / "usr/lib/guest/stage-one"
    program.parent.mkdir()
    shutil.copyfile(STAGE_ONE, program)
    program.chmod(0o755)
