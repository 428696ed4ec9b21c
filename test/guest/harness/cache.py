# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is made once and kept. What keeps the cache from growing: of each kind, what has not been used for the longest time
is removed."""

import os
import shutil
import time

from harness.progress import exclusive

# How many of a kind stay. Base images and kernels: one for each machine and release, and one more of each for the other
# side of a bisection.
KEPT = {"base-*": 10, "debian-*": 10, "system-*": 7, "kernel-*": 6, "disks-*": 150, "program-*": 12, "trial-*": 6,
        "cases-*": 4, "installation-*": 4, "package-*": 12, "builder-*": 6, "tools-*": 3, "installed-*": 3,
        "prover-*": 4, "run/*-*[0-9]": 30}
# Another run may be about to boot from it, or be in the middle of a benchmark.
UNTOUCHABLE_SECONDS = 3 * 3600


def made(thing, make):
    """Return a thing in the cache, made by make() if it is not there. Others who need it wait for that meanwhile."""
    locks = thing.parent / "locks"
    locks.mkdir(exist_ok=True)
    with exclusive(locks / thing.name):
        if not thing.exists():
            make()
    return used(thing)


def used(path):
    """Note that a thing in the cache is used now; return it."""
    # The time of access. The time of modification must stay: user-mode Linux compares that of a base image.
    os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
    return path


def last_use(path):
    """When a thing was used, and the thing; None for what its maker has renamed meanwhile."""
    try:
        return path.stat().st_atime, path
    except FileNotFoundError:
        return None


def tidy(cache):
    oldest = time.time() - UNTOUCHABLE_SECONDS
    for pattern, count in KEPT.items():
        things = sorted(filter(None, map(last_use, cache.glob(pattern))), reverse=True)
        for accessed, path in things[count:]:
            if accessed > oldest:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
