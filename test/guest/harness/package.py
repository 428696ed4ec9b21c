# SPDX-License-Identifier: LGPL-2.1-or-later
"""Debian's package of the project as it is now, built in a chroot of a release as Debian's builders do."""

import os
import shutil
import tempfile
from pathlib import Path

from harness.cache import made
from harness.progress import command, fetch, key_of, point_release, say

# In the chroot.
SOURCE = "build/headgate"


def package(cache, repository, suite):
    """The folder with the packages and what dpkg-buildpackage wrote about them, in the cache; made first if there is none."""
    files = [name for name in command("git", "-c", f"safe.directory={repository}", "-C", repository, "ls-files", "-z", "--cached",
                                      "--others", "--exclude-standard").split("\0") if name and (repository / name).exists()]
    key = key_of(Path(__file__).read_text(), suite, *(f"{name}\0{os.readlink(path) if path.is_symlink() else path.read_bytes()}"
                          for name, path in ((name, repository / name) for name in files)))
    folder = cache / f"package-{suite}-{key}"
    return made(folder, lambda: build(folder, builder(cache, repository, suite), repository, files))


def builder(cache, repository, suite):
    """A tar of the release with what the package needs to be built."""
    control = repository / "debian/control"
    tar = cache / f"builder-{suite}-{key_of(Path(__file__).read_text(), control.read_text(), point_release(suite))}.tar"

    def make():
        say(f"building a chroot of {suite} for packages")
        fetch(suite, f"{tar}.new", "--format=tar", "--variant=buildd", "--include=build-essential",
              f'--customize-hook=mkdir "$1/build"; cp -r {control.parent} "$1/build/"',
              '--customize-hook=chroot "$1" apt-get build-dep -y -qq --no-install-recommends /build')
        os.rename(f"{tar}.new", tar)
    return made(tar, make)


def build(folder, tar, repository, files):
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="building-") as scratch:
        root = Path(scratch)
        command("tar", "-xf", tar, "-C", root)
        shutil.rmtree(root / "build")
        for name in files:
            path = root / SOURCE / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repository / name, path, follow_symlinks=False)
        say(f"building the package: {folder.name}")
        command("unshare", "--mount", "sh", "-c",
                'mount -t proc proc "$1/proc" && exec chroot "$1" sh -c "cd /$2 && dpkg-buildpackage -us -uc -b"', "sh", root, SOURCE,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
                     "DEB_BUILD_OPTIONS": f"nocheck parallel={os.cpu_count()}"})
        finished = root / "finished"
        finished.mkdir()
        for path in (root / SOURCE).parent.glob("headgate*_*"):
            path.rename(finished / path.name)
        finished.rename(folder)
