# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the disks of generated cases, by lvm2 on loop devices of the host, and puts them into one tar for guests.

In the tar there is a folder for each case, with an image for each PV that comes, the configuration, a folder "run" with
what there is in /run/lvm from the beginning, and a file "arrivals": a line "disk IMAGE NAME" or "loop IMAGE NAME" for
each that comes, in that order, and a line "rest" where all that have come are to be dealt with first.
"""

import concurrent.futures
import contextlib
import os
import random as randomness
import re
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path

from harness import cases as generator, metadata_area, volumes
from harness.cache import made
from harness.progress import Trouble, command, key_of, need_packages, package_version, say

WORKERS = 2
MIB = 1 << 20
# What the host's commands are configured to. The small PV is to be made all the same.
LVM_CONF = """
devices {{ dir = "/dev" scan = [ "/dev" ] use_devicesfile = 0 hints = "none" obtain_device_list_from_udev = 0
          external_device_info_source = "none" pv_min_size = 512 }}
global {{ locking_dir = "{private}/lock" use_aio = 0 event_activation = 0 use_lvmpolld = 0 }}
activation {{ udev_sync = 0 udev_rules = 0 monitoring = 0 }}
backup {{ backup = 0 archive = 0 }}
"""
# For what is not under test, and takes time in a guest.
GUEST_CONF = {("activation", "monitoring"): "0", ("backup", "backup"): "0", ("backup", "archive"): "0",
              ("global", "use_aio"): "0"}


def make_cases(cache, seed, chosen):
    """Return the tar for these cases, from the cache if it was made before."""
    need_packages("lvm2")
    sources = [Path(module.__file__).read_text() for module in (generator, volumes, metadata_area)]
    key = key_of(Path(__file__).read_text(), *sources, package_version("lvm2"), seed, *(case.number for case in chosen))
    tar = cache / f"cases-{key}.tar"

    def make():
        say(f"writing the disks of {len(chosen)} cases")
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        with tempfile.TemporaryDirectory(dir=memory, prefix="guest-cases-") as scratch:
            (Path(scratch) / "lvm.conf").write_text(LVM_CONF.format(private=scratch))
            with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
                list(pool.map(lambda case: make_case(Path(scratch), seed, case), chosen))
            command("tar", "--sparse", "-cf", f"{tar}.new", "-C", scratch, *(str(case.number) for case in chosen))
        Path(f"{tar}.new").rename(tar)
    return made(tar, make)


def make_case(scratch, seed, case):
    folder = scratch / str(case.number)
    folder.mkdir()
    random = randomness.Random(f"{seed}/{case.number}/contents")
    try:
        images = {}
        for group in case.groups:
            images |= GroupMaker(scratch, folder, group, len(images), random).make()
        for pv in case.orphans:
            images[id(pv)] = folder / f"pv{len(images)}"
            make_orphan(scratch, images[id(pv)], pv)
    except Trouble as trouble:
        raise Trouble(f"case {case}: {trouble}") from None
    write_configuration(folder, case, [images[id(pv)] for pv in case.arrivals])
    write_run_files(folder / "run", case, images)
    with open(folder / "arrivals", "w", encoding="ascii") as arrivals:
        for pv, device in zip(case.arrivals, case.device_names()):
            arrivals.write(f"{'loop' if pv.loop else 'disk'} {images[id(pv)].name} {device}\n")
            if case.paced:
                arrivals.write("rest\n")
    for pv in case.pvs():
        if not pv.comes:
            images[id(pv)].unlink()
        elif not pv.loop:
            os.truncate(images[id(pv)], generator.DISK_MIB * MIB)
    # lvm2 writes zeroes, too.
    for image in folder.glob("pv*"):
        command("fallocate", "--dig-holes", image)


def write_configuration(folder, case, images):
    sections = defaultdict(list)
    for (section, key), value in (GUEST_CONF | case.conf).items():
        value = re.sub(r"<UUID (\d+)>", lambda match: metadata_area.uuid(images[int(match[1])]), value)
        sections[section].append(f"{key} {'' if value.startswith('{') else '= '}{value}")
    (folder / "lvmlocal.conf").write_text("".join(
        f"{section} {{\n" + "".join(f"\t{line}\n" for line in lines) + "}\n" for section, lines in sections.items()))
    if case.devices_file is not None:
        names = case.device_names()
        lines = ["VERSION=1.1.1"]
        for number, known_as in case.devices_file:
            lines.append(f"IDTYPE=devname IDNAME={names[known_as]} DEVNAME={names[known_as]} "
                         f"PVID={metadata_area.pvid(images[number])}")
        (folder / "system.devices").write_text("".join(f"{line}\n" for line in lines))


def write_run_files(folder, case, images):
    def replace_pvids(text):
        return re.sub(r"<PVID (\d+) (\d+)>", lambda match: metadata_area.pvid(
            images[id(case.groups[int(match[1])].pvs[int(match[2])])]), text)

    for name, content in case.run_files.items():
        path = folder / replace_pvids(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(replace_pvids(content))


@contextlib.contextmanager
def attached(images):
    loops = []
    try:
        for image in images:
            loops.append(command("losetup", "--find", "--show", image).strip())
        yield loops
    finally:
        if loops:
            command("losetup", "--detach", *loops)


def new_image(path, mib):
    with open(path, "wb") as file:
        file.truncate(int(mib * MIB))


def lvm(scratch, devices, program, *words):
    """Run one lvm command. (A process each: lvm's shell crashes after a few commands with --devices in 2.03.16.)"""
    return command("lvm", program, "--driverloaded", "n", "--devices", ",".join(devices), "-q", *words,
                   env=os.environ | {"LVM_SYSTEM_DIR": str(scratch), "LVM_SUPPRESS_FD_WARNINGS": "1"})


def pvcreate_words(pv):
    return ("--metadatacopies", str(pv.copies), *(("--metadataignore", "y") if pv.ignored and pv.copies else ()),
            "--labelsector", str(pv.sector))


def make_orphan(scratch, image, pv):
    new_image(image, pv.mib)
    with attached([image]) as loops:
        lvm(scratch, loops, "pvcreate", *pvcreate_words(pv), *loops)


class GroupMaker:
    """Makes the PVs of one VG."""

    def __init__(self, scratch, folder, group, first, random):
        self.scratch, self.folder, self.group, self.random = scratch, folder, group, random
        self.images = [folder / f"pv{first + number}" for number in range(len(group.pvs))]
        self.loops = []

    def make(self):
        """Returns the images, by the id() of their PVs."""
        for image, pv in zip(self.images, self.group.pvs):
            new_image(image, pv.mib)
        with attached(self.images) as self.loops:
            self._create()
            self._add_volumes()
            kept = {image: self._keep(image) for image, pv in zip(self.images, self.group.pvs) if pv.left or pv.asleep}
            self._change()
        for image, copy in kept.items():
            shutil.move(copy, image)
        for image, pv in zip(self.images, self.group.pvs):
            metadata_area.edit(image, self._edit)
            if pv.damaged:
                metadata_area.damage(image)
            if pv.beheaded:
                metadata_area.behead(image)
        return {id(pv): image for pv, image in zip(self.group.pvs, self.images)}

    def _lvm(self, program, *words):
        return lvm(self.scratch, self.loops, program, *words)

    def _of(self, condition):
        """The devices of those PVs."""
        return [device for device, pv in zip(self.loops, self.group.pvs) if condition(pv)]

    def _create(self):
        for words in sorted({pvcreate_words(pv) for pv in self.group.pvs}):
            self._lvm("pvcreate", *words, *self._of(lambda pv, words=words: pvcreate_words(pv) == words))
        self._lvm("vgcreate", "-s", "64k", self.group.name, *self._of(lambda pv: not pv.joined))

    def _add_volumes(self):
        file = self.folder / "text"
        self._lvm("vgcfgbackup", "-f", file, self.group.name)
        text = file.read_text()
        # Which PV is which in it; nothing is to lie on one that is about to go.
        numbers = {uuid: number for number, uuid in re.findall(r'pv(\d+) \{\s*id = "([^"]+)"', text)}
        counts = dict(re.findall(r"(?s)pv(\d+) \{.*?pe_count = (\d+)", text))
        extents = [0] * len(counts)
        for image, pv in zip(self.images, self.group.pvs):
            if not pv.joined:
                number = int(numbers[metadata_area.uuid(image)])
                # Those that a disk does not have which is smaller than its PV are left free.
                extents[number] = 0 if pv.left or pv.mib < 2 else min(int(counts[str(number)]), 100)
        section = volumes.Writer(extents, self.random).section(self.group.volumes)
        if self.group.tags:
            text = re.sub(r"(?m)^(\s*extent_size = )", f"tags = {volumes.list_of(self.group.tags)}\n\\1", text, count=1)
        file.write_text(text.rstrip().removesuffix("}") + section + "}\n")
        self._lvm("vgcfgrestore", "--force", "-y", "-f", file, self.group.name)
        file.unlink()

    def _keep(self, image):
        copy = image.with_suffix(".kept")
        shutil.copyfile(image, copy)
        return copy

    def _change(self):
        for device in self._of(lambda pv: pv.joined):
            self._lvm("vgextend", self.group.name, device)
        for device in self._of(lambda pv: pv.left):
            self._lvm("vgreduce", self.group.name, device)
        if self._of(lambda pv: pv.asleep):
            self._lvm("vgchange", "--addtag", "changed", self.group.name)
        # Nothing can be changed of a VG that is exported.
        for program, *words in sorted(self.group.commands, key=lambda command: command[0] == "vgexport"):
            self._lvm(program, *words, self.group.name)

    def _edit(self, text):
        for pattern, replacement in self.group.edits:
            text, count = re.subn(pattern, replacement, text, count=1)
            if count == 0 and not any(pv.asleep or pv.left for pv in self.group.pvs):
                raise Trouble(f"there is no {pattern} to be replaced")
        return text
