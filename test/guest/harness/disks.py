# SPDX-License-Identifier: LGPL-2.1-or-later
"""Disks with real LVM metadata, written by lvm2 itself on loop devices of the host.

The host needs no device-mapper for it, since nothing is activated. What is kept of the disks is a pack: the pieces
that were written to, one after another, with a manifest of where they belong.
"""

import concurrent.futures
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness import layout
from harness.cache import made
from harness.progress import Trouble, command, key_of, need_packages, package_version, say

MIB = 1 << 20
BLOCK = 4096
DISKS_AT_A_TIME = 32
WORKERS = 2
# A pack begins with empty space, so that a guest which sees it as a device does not take it for a PV.
PACK_PADDING = MIB

LVM_CONF = """
devices { dir = "/dev" scan = [ "/dev" ] use_devicesfile = 0 hints = "none" obtain_device_list_from_udev = 0
          external_device_info_source = "none" }
global { locking_dir = "%(private)s/lock" use_aio = 0 event_activation = 0 use_lvmpolld = 0 }
allocation { physical_extent_size = 64 }
activation { udev_sync = 0 udev_rules = 0 monitoring = 0 }
backup { backup = 1 backup_dir = "%(private)s/backup" archive = 0 }
"""
EXTRA_OPTIONS = {"lvcreate": ["-an", "-Zn", "-Wn", "-y"]}


class DiskSet:
    """A finished set of disks in the cache: pack, manifest, backup/ (lvm2's metadata backups) and lvs."""

    def __init__(self, folder):
        self.pack = folder / "pack"
        self.manifest = folder / "manifest"
        self.backups = folder / "backup"
        self.volumes = (folder / "lvs").read_text().split()

    def write_raw(self, path, count, mib):
        """Write all disks one after another into one sparse file."""
        with open(self.pack, "rb") as pack, open(path, "wb") as raw:
            raw.truncate(count * mib * MIB)
            for line in self.manifest.read_text().splitlines():
                number, offset, length, start = map(int, line.split())
                pack.seek(start)
                raw.seek((number - 1) * mib * MIB + offset)
                raw.write(pack.read(length))


def make_disks(cache, lines, count, mib):
    """Return the DiskSet for a layout, from the cache if it was made before."""
    need_packages("lvm2", "e2fsprogs")
    key = key_of(Path(__file__).read_text(), Path(layout.__file__).read_text(), package_version("lvm2"), count, mib,
                 *lines)
    folder = cache / f"disks-{key}"

    def make():
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        with tempfile.TemporaryDirectory(dir=memory, prefix="guest-disks-") as scratch:
            say(f"writing LVM metadata on {count} disks")
            maker = Maker(Path(scratch), count, mib)
            maker.run(layout.expand(lines, count))
            maker.store(cache / f"{folder.name}.new")
        (cache / f"{folder.name}.new").rename(folder)
        say("disks are ready")
    return DiskSet(made(folder, make))


class Maker:
    def __init__(self, scratch, count, mib):
        self.scratch = scratch
        self.images = [scratch / f"d{number}" for number in range(1, count + 1)]
        self.volumes = []
        for image in self.images:
            with open(image, "wb") as file:
                file.truncate(mib * MIB)
        (scratch / "backup").mkdir()
        (scratch / "lvm.conf").write_text(LVM_CONF % {"private": scratch})

    def run(self, phases):
        for stanzas in phases:
            with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
                list(pool.map(self.run_stanzas, batches(stanzas)))

    def run_stanzas(self, stanzas):
        """Run the commands of some stanzas, with their disks attached to loop devices."""
        numbers = sorted({number for stanza in stanzas for number in stanza.disks})
        loops = {}
        try:
            for number in numbers:
                loops[number] = command("losetup", "--find", "--show", self.images[number - 1]).strip()
            for stanza in stanzas:
                for words in stanza.commands:
                    self.run_command(words, stanza, loops)
            self.volumes += self.report("lvs", loops.values(), "vg_name,lv_name")
        finally:
            if loops:
                command("losetup", "--detach", *loops.values())

    def run_command(self, words, stanza, loops):
        program, *rest = [loops[word] if isinstance(word, int) else word for word in words]
        if program == "mkfs":
            self.mkfs({loop: number for number, loop in loops.items()}, *rest)
        else:
            self.lvm(program, [loops[number] for number in stanza.disks], *EXTRA_OPTIONS.get(program, []), *rest)

    def lvm(self, program, devices, *words):
        """Run one lvm command. (A process each: lvm's shell crashes after a few commands with --devices in 2.03.16.)"""
        printed = command("lvm", program, "--driverloaded", "n", "--devices", ",".join(devices), *words,
                          env=os.environ | {"LVM_SYSTEM_DIR": str(self.scratch), "LVM_SUPPRESS_FD_WARNINGS": "1"})
        return [line.strip() for line in printed.splitlines()]

    def report(self, program, devices, columns, *words):
        return self.lvm(program, devices, "--noheadings", "--nosuffix", "--units", "b", "--separator", "/",
                        "-o", columns, *words)

    def mkfs(self, numbers, kind, volume, *options):
        """Make a file system where the LV will be: the host cannot activate it, but it knows the place."""
        segments = self.report("lvs", numbers, "seg_pe_ranges,vg_extent_size,seg_size", "--segments", volume)
        if len(segments) != 1:
            raise Trouble(f"mkfs: {volume} is not in one piece")
        place, extent, size = segments[0].rsplit("/", 2)
        device, extents = place.rsplit(":", 1)
        data_start = int(self.report("pvs", numbers, "pe_start", device)[0])
        offset = data_start + int(extents.split("-")[0]) * int(extent)
        command("mke2fs", "-q", "-F", "-t", kind, "-L", volume.replace("/", "-")[:16], "-E", f"offset={offset}",
                *options, self.images[numbers[device] - 1], f"{int(size) // 1024}k")

    def store(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copytree(self.scratch / "backup", folder / "backup")
        (folder / "lvs").write_text("".join(f"{volume}\n" for volume in sorted(self.volumes)))
        with open(folder / "pack", "wb") as pack, open(folder / "manifest", "w", encoding="ascii") as manifest:
            pack.write(bytes(PACK_PADDING))
            for number, image in enumerate(self.images, 1):
                for offset, piece in written_pieces(image):
                    manifest.write(f"{number} {offset} {len(piece)} {pack.tell()}\n")
                    pack.write(piece)


def batches(stanzas):
    """Group stanzas, so that there are never many loop devices, each of which slows down every lvm command."""
    batch = []
    for stanza in stanzas:
        if batch and sum(len(member.disks) for member in [*batch, stanza]) > DISKS_AT_A_TIME:
            yield batch
            batch = []
        batch.append(stanza)
    yield batch


def written_pieces(path):
    """Yield (offset, bytes) for the parts of a sparse file that are not zero."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        start, pieces = None, b""
        for offset in range(0, size, BLOCK):
            block = file.read(BLOCK)
            if block.strip(b"\0"):
                start, pieces = (offset, b"") if start is None else (start, pieces)
                pieces += block
            elif start is not None:
                yield start, pieces
                start = None
        if start is not None:
            yield start, pieces
