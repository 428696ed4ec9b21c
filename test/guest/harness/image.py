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
# For mmdebstrap, which with an option for that would run a Python program for each package: a fifth of its time.
LEAVE_OUT = (f"printf 'path-exclude=%s\\n' {' '.join(map(repr, UNWANTED_FILES))} > \"$1/etc/dpkg/dpkg.cfg.d/guest\" && "
             f"cd \"$1\" && rm -rf {' '.join(pattern.lstrip('/') for pattern in UNWANTED_FILES)}")
# Whatever takes boot time and has nothing to do with storage. LVM's own units stay as Debian enables them.
MASKED_UNITS = ["apt-daily.timer", "apt-daily-upgrade.timer", "dev-mqueue.mount", "dpkg-db-backup.timer", "e2scrub_all.timer",
                "e2scrub_reap.service", "fstrim.timer", "getty.target", "ldconfig.service",
                "mdcheck_continue.timer", "mdcheck_start.timer", "mdmonitor-oneshot.timer", "mdmonitor.service", "modprobe@drm.service",
                "sys-fs-fuse-connections.mount", "sys-kernel-config.mount", "systemd-ask-password-console.path",
                "systemd-ask-password-wall.path", "systemd-hwdb-update.service", "systemd-journal-catalog-update.service",
                "systemd-pstore.service", "systemd-random-seed.service", "systemd-repart.service",
                "systemd-sysctl.service", "systemd-sysusers.service",
                "systemd-udev-load-credentials.service", "systemd-update-done.service", "systemd-update-utmp.service", "systemd-update-utmp-runlevel.service",
                "systemd-user-sessions.service"]
# Of what tmpfiles.d(5) makes, only that of these has to do with storage; all else takes two thirds of systemd-tmpfiles-setup.
TMPFILES = ["cryptsetup.conf", "lvm2.conf"]
# Of systemd's own generators only these find something in a guest.
GENERATORS = ["systemd-cryptsetup-generator", "systemd-fstab-generator"]
# Coldplug is of devices, and not of what would take longer than the disks and is nothing to them.
TRIGGER = "systemd-udev-trigger.service"
UNTRIGGERED = ["bdi", "clockevents", "clocksource", "cpu", "mem", "misc", "platform", "tty", "workqueue"]
STAGE_ONE = Path(__file__).parent.parent / "inside" / "stage-one"


def base_image(cache, modules, suite, more_packages):
    """Return the path of the image with these kernel modules, made first if its ingredients have changed.

    suite is a release of Debian; more_packages are installed beside what every guest has.
    """
    need_packages("mmdebstrap", "e2fsprogs")
    key = key_of(*ingredients(suite), modules.relative_to(cache), *more_packages)
    image = cache / f"base-{key}.img"
    return made(image, lambda: make_image(image, modules, suite, more_packages))


def make_image(image, modules, suite, more_packages):
    with tempfile.TemporaryDirectory(dir=image.parent, prefix="base-") as scratch:
        tree = Path(scratch) / "tree"
        debootstrap(image.parent, tree, suite, [*packages(suite), *more_packages])
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


def debootstrap(cache, tree, suite, wanted):
    """Unpack Debian with these packages, which are fetched once for guests in user-mode Linux and in qemu."""
    tar = cache / f"debian-{key_of(suite, point_release(suite), *UNWANTED_FILES, *wanted)}.tar"

    def make():
        say(f"debootstrapping {suite}, about half a minute")
        # Unpacked from a tar, not made in place: mmdebstrap refuses directories below one that others cannot enter.
        fetch(suite, f"{tar}.new", "--format=tar", "--variant=minbase", f"--include={','.join(wanted)}",
              "--dpkgopt=force-unsafe-io", f"--extract-hook={LEAVE_OUT}")
        os.rename(f"{tar}.new", tar)
    made(tar, make)
    tree.mkdir()
    command("tar", "-xf", tar, "-C", tree)


def furnish(tree):
    """Turn a debootstrapped tree into a guest: no useless units, a journal in memory, our first program."""
    for unit in MASKED_UNITS:
        mask(tree / "etc/systemd/system" / unit)
    # Some packages have made it.
    (tree / "etc/tmpfiles.d").mkdir(exist_ok=True)
    for path in (tree / "usr/lib/tmpfiles.d").glob("*.conf"):
        if path.name not in TMPFILES:
            mask(tree / "etc/tmpfiles.d" / path.name)
    (tree / "etc/systemd/system-generators").mkdir()
    for generator in (tree / "usr/lib/systemd/system-generators").glob("systemd-*"):
        if generator.name not in GENERATORS:
            mask(tree / "etc/systemd/system-generators" / generator.name)
    (tree / "etc/systemd/system" / f"{TRIGGER}.d").mkdir()
    usual = (tree / "usr/lib/systemd/system" / TRIGGER).read_text().splitlines()
    without = "".join(f" --subsystem-nomatch={name}" for name in UNTRIGGERED)
    commands = [line.replace("--type=all", "--type=devices") + without for line in usual if line.startswith("ExecStart=")]
    (tree / "etc/systemd/system" / f"{TRIGGER}.d/guest.conf").write_text("\n".join(["[Service]", "ExecStart=", *commands, ""]))
    # There is nothing in /etc/modules, but systemd would run a program to see that.
    (tree / "etc/modules-load.d/modules.conf").unlink(missing_ok=True)
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


def mask(link):
    link.unlink(missing_ok=True)
    link.symlink_to("/dev/null")
