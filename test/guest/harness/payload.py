# SPDX-License-Identifier: LGPL-2.1-or-later
"""The payload: everything of a guest that is not in its base image, as a tar that its first program unpacks over /."""

import io
import json
import os
import shlex
import tarfile
import tempfile
from pathlib import Path

from harness.cache import made
from harness.progress import Trouble, command, key_of, need_packages, say

INSIDE = Path(__file__).parent.parent / "inside"
HERE = "usr/lib/guest"
# headgate that asks a file of a captured tree in the place of device-mapper.
READER_OF_CAPTURES = "headgate-with-fake-dm"
SCRIPTS = ["stage-two", "attach-disks", "initrd-disks", "scenario-runner", "vocabulary", "shutdown-words", "package-words", "facts",
           "write-report", "last-phase", "list-devices"]
# Only if the scenario, or one of them, runs it.
SCRIPTS_IF_NEEDED = ["shapes", "faults", "remote", "silent", "what-is-active", "account", "boot-contenders", "dracut-words", "running",
                     "selinux-words", "teardown-contenders", "turns"]
# Units, and what starts them.
UNITS = {"guest-scenario.service": "sysinit.target", "guest-last-phase.service": "final.target"}
# What systemd-shutdown runs at its end.
SHUTDOWN_HOOK = "usr/lib/systemd/system-shutdown/guest"
SECTOR = 512


def write_payload(path, cache, repository, build, scenario, disk_set, settings, additions=()):
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        if scenario.headgate == "enabled":
            add_headgate(tar, cache, repository, build)
        own_texts = [scenario.body, *scenario.files.values()]
        scripts = scripts_run_by(own_texts)
        for name, text in scripts.items():
            add(tar, f"{HERE}/{name}", text.encode(), 0o755)
        add(tar, f"{HERE}/capture-tree", (repository / "test/tree/capture").read_bytes(), 0o755)
        if READER_OF_CAPTURES in scenario.body:
            add(tar, f"{HERE}/{READER_OF_CAPTURES}", (build / "test" / READER_OF_CAPTURES).read_bytes(), 0o755)
        for program in compiled_programs(cache, [*own_texts, *scripts.values()]):
            add(tar, f"{HERE}/{program.name}", program.read_bytes(), 0o755)
        add(tar, SHUTDOWN_HOOK, (INSIDE / "shutdown-hook").read_bytes(), 0o755)
        for unit, target in UNITS.items():
            add(tar, f"etc/systemd/system/{unit}", (INSIDE / unit).read_bytes())
            link(tar, f"etc/systemd/system/{target}.wants/{unit}", f"/etc/systemd/system/{unit}")
        add(tar, f"{HERE}/scenario", scenario.body.encode())
        add(tar, f"{HERE}/manifest", disk_set.manifest.read_bytes())
        add(tar, f"{HERE}/volumes", "".join(f"{volume}\n" for volume in disk_set.volumes).encode())
        if scenario.backups == "known":
            for backup in disk_set.backups.iterdir():
                add(tar, f"etc/lvm/backup/{backup.name}", backup.read_bytes(), 0o600)
        for addition in additions:
            add(tar, f"{HERE}/{addition.name}", addition.read_bytes())
        for name, text in scenario.files.items():
            add(tar, name.lstrip("/"), text.encode())
        known = {"SCENARIO": scenario.name, "DISKS": scenario.disks, "DISK_MIB": scenario.disk_mib,
                 "DISKS_KEPT": "yes" if scenario.disks_kept else "",
                 "LATE_DISKS": " ".join(map(str, scenario.late)), "DEADLINE": scenario.deadline,
                 "BOOTS": scenario.boots, "SHUTDOWN": scenario.shutdown, "HEADGATE": scenario.headgate,
                 "LVM_CALLS": scenario.lvm_calls, "SUMMARY": scenario.summary, "FACTS_DIFFER": scenario.facts_differ,
                 **settings}
        add(tar, f"{HERE}/settings", "".join(f"{name}={shlex.quote(str(value))}\n"
                                             for name, value in known.items()).encode())
    # A block device ends at a sector, and tar wants to see its end marker whole.
    with open(path, "ab") as file:
        file.write(bytes(-path.stat().st_size % SECTOR + 20 * SECTOR))


def add(tar, name, content, mode=0o644):
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    tar.addfile(info, io.BytesIO(content))


def link(tar, name, target):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    tar.addfile(info)


def scripts_run_by(texts):
    """The scripts of a guest with these texts: name -> text."""
    found = {name: (INSIDE / name).read_text() for name in SCRIPTS}
    more = True
    while more:
        more = [name for name in SCRIPTS_IF_NEEDED if name not in found and is_run(name, [*texts, *found.values()])]
        found |= {name: (INSIDE / name).read_text() for name in more}
    return found


def compiled_programs(cache, texts):
    """The helper programs that these texts run, static so that they do not depend on what is in the image; and what is preloaded.

    To unpack all of them, which are 9 MB, takes a twentieth of a boot.
    """
    return [compiled_program(cache, source) for source in sorted(INSIDE.glob("*.c")) if is_run(source.stem, texts)]


def is_run(name, texts):
    return any(f"/{name}" in text for text in texts)


def compiled_program(cache, source):
    folder = cache / f"program-{key_of(source.read_text())}"

    def make():
        need_packages("gcc", "libc6-dev")
        with tempfile.TemporaryDirectory(dir=cache, prefix="program-") as scratch:
            finished = Path(scratch) / "finished"
            finished.mkdir()
            kind = ["-shared", "-fPIC"] if source.stem.endswith(".so") else ["-static"]
            command("gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", *kind, "-s", "-o", finished / source.stem, source)
            finished.rename(folder)
    return made(folder, make) / source.stem


def add_headgate(tar, cache, repository, build):
    """Install the project as it is now into the tar."""
    if not (repository / "meson.build").exists():
        raise Trouble("this scenario needs headgate, but the project has no meson.build yet")
    folder = build if (build / "build.ninja").exists() else build / "install-build"
    if not (folder / "build.ninja").exists():
        say("configuring the project")
        command("meson", "setup", "--prefix=/usr", folder, repository)
    say("building and installing the project")
    # Not the tests.
    targets = json.loads((folder / "meson-info/intro-targets.json").read_text())
    command("ninja", "-C", folder, "--quiet",
            *(Path(name).relative_to(folder) for target in targets if target["installed"] for name in target["filename"]))
    destination = installation(cache, folder)
    paths = sorted(destination.rglob("*"))
    for path in paths:
        tar.add(path, path.relative_to(destination), recursive=False, filter=as_root)
    add(tar, f"{HERE}/installed", "".join(f"{path.relative_to(destination)}\n" for path in paths
                                          if not path.is_dir()).encode())


def installation(cache, folder):
    """What a build directory installs, as a tree in the cache: made anew only when something of it has been built since."""
    plan = folder / "meson-info/intro-install_plan.json"
    files = json.loads((folder / "meson-info/intro-installed.json").read_text())
    key = key_of(folder, plan.stat().st_mtime_ns, *(f"{path}\0{os.stat(path).st_mtime_ns}" for path in sorted(files)))
    tree = cache / f"installation-{key}"

    def make():
        with tempfile.TemporaryDirectory(dir=cache, prefix="installation-") as scratch:
            command("meson", "install", "-C", folder, "--destdir", f"{scratch}/tree", "--quiet", "--no-rebuild", "--strip")
            os.rename(f"{scratch}/tree", tree)
    return made(tree, make)


def as_root(info):
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    # A directory entry must not replace a link of the guest's merged /usr.
    return None if info.isdir() else info
