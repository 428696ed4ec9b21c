# SPDX-License-Identifier: LGPL-2.1-or-later
"""Debian's packages of the project as it is now, and of an earlier commit, built in a chroot as Debian's builders do."""

import contextlib
import os
import platform
import shutil
import tempfile
from pathlib import Path

from harness import image
from harness.cache import made
from harness.progress import command, fetch, key_of, need_packages, point_release, say

# In a chroot.
SOURCE = "build/headgate"
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive",
               # What is packed is thrown away.
               "XZ_OPT": "-0"}
OPTIONS = f"nocheck parallel={os.cpu_count()}"
# Of packages that replace each other, where nothing else counts. They need no chroot where the host is of their release.
FAST = {"DEB_BUILD_OPTIONS": f"{OPTIONS} noopt noautodbgsym"}
# Of chroots where nobody looks for documents.
LEAN = ["--dpkgopt=force-unsafe-io", f"--extract-hook={image.LEAVE_OUT}"]


def git(repository, *words, **options):
    return command("git", "-c", f"safe.directory={repository}", "-C", repository, *words, **options)


def package(cache, repository, suite, **environment):
    """The folder with the packages and what was written about them, in the cache; made first if there is none."""
    files = [name for name in git(repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
             if name and (repository / name).exists()]
    # What tests is in the source package only.
    key = key_of(Path(__file__).read_text(), environment, *(f"{name}\0{(repository / name).read_bytes()}" for name in files
                                               if not name.startswith("test/")))

    def copy(source):
        for name in files:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repository / name, source / name, follow_symlinks=False)
    return built(cache, repository, suite, f"package-{suite}-{key}", copy, **environment)


def earlier_package(cache, repository, suite):
    """Likewise the package of before the last commit that changed more than tests, with a lower version, named earlier.deb. A clone
    that does not reach back to that has the package of its last commit instead."""
    commit = git(repository, "rev-list", "--max-count=2", "HEAD", "--", ".", ":!test").split()[-1]

    def unpack(source):
        source.mkdir(parents=True)
        git(repository, "archive", f"--output={source}.tar", commit)
        command("tar", "-xf", f"{source}.tar", "-C", source)
        changelog = source / "debian/changelog"
        changelog.write_text(changelog.read_text().replace("-", "~earlier-", 1))
    folder = built(cache, repository, suite, f"package-{suite}-{key_of(Path(__file__).read_text(), commit)}", unpack, **FAST)
    named = folder / "earlier.deb"
    with contextlib.suppress(FileExistsError):
        os.link(next(folder.glob("headgate_*.deb")), named)
    return named


def chroot_of(cache, suite, kind, key, include, *hooks):
    """A tar of packages of a release, and of what hooks of mmdebstrap do there."""
    tar = cache / f"{kind}-{suite}-{key_of(key, include, *hooks, point_release(suite))}.tar"

    def make():
        say(f"making a chroot of {suite}: {kind}")
        fetch(suite, f"{tar}.new", "--format=tar", "--variant=buildd", f"--include={include}", *hooks)
        os.rename(f"{tar}.new", tar)
    return made(tar, make)


def builder(cache, repository, suite, *more):
    """A tar with what the package needs to be built, and more packages."""
    control = repository / "debian/control"
    return chroot_of(cache, suite, "builder", control.read_text(), ",".join(["build-essential", *more]),
                     *LEAN, f'--customize-hook=mkdir "$1/build"; cp -r {control.parent} "$1/build/"',
                     '--customize-hook=chroot "$1" apt-get build-dep -y -qq --no-install-recommends /build && rm -r "$1/build"')


def in_chroot(root, script, *words, **environment):
    """What a shell script prints there. As with Debian's builders, / is a mount, and devices and sysfs are there."""
    return command("unshare", "--mount", "--pid", "--fork", "sh", "-c", 'mount --bind "$0" "$0" && mount -t proc proc "$0/proc" && '
                   'mount --rbind /dev "$0/dev" && mount -t sysfs sysfs "$0/sys" && exec chroot "$0" sh -e -c "$@" 2>&1',
                   root, script, "sh", *words, env=ENVIRONMENT | environment)


def on_host(root, script, directory, **environment):
    """Likewise, with the host's own programs."""
    return command("sh", "-e", "-c", f"{script} 2>&1", "sh", root / directory.lstrip("/"), env=ENVIRONMENT | environment)


def built(cache, repository, suite, name, provide, **environment):
    folder = cache / name

    def make():
        if environment == FAST and platform.freedesktop_os_release().get("VERSION_CODENAME") == suite:
            need_packages("debhelper", "dpkg-dev", "scdoc", "systemd", "udev")
            build(folder, None, provide, **environment)
        else:
            build(folder, builder(cache, repository, suite), provide, **environment)
    return made(folder, make)


def build(folder, tar, provide, **environment):
    """Have provide() put the source where it is told to, and build packages of that, in a chroot if there is a tar of one."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="building-") as scratch:
        root = Path(scratch)
        if tar:
            command("tar", "-xf", tar, "-C", root)
        provide(root / SOURCE)
        say(f"building the package: {folder.name}")
        log = (in_chroot if tar else on_host)(root, 'cd "$1" && version=$(dpkg-parsechangelog -S Version) && '
                        'tar --anchored --exclude=headgate/debian -cJf "../headgate_${version%-*}.orig.tar.xz" -C .. headgate && dpkg-buildpackage -us -uc',
                        f"/{SOURCE}", **{"DEB_BUILD_OPTIONS": OPTIONS} | environment)
        finished = root / "finished"
        finished.mkdir()
        (finished / "build.log").write_text(log)
        for path in (root / SOURCE).parent.glob("headgate*_*"):
            path.rename(finished / path.name)
        finished.rename(folder)
