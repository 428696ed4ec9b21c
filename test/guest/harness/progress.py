# SPDX-License-Identifier: LGPL-2.1-or-later
"""Progress lines with times, external commands, and the packages that the harness itself needs."""

import contextlib
import fcntl
import functools
import hashlib
import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

started = time.monotonic()


class Trouble(Exception):
    """Something that makes the result a failure; its text is for the person at the terminal."""


class KernelFault(Trouble):
    """The guest's kernel has failed by itself: it has crashed, or has not come to its first program."""


def say(text):
    print(f"[{time.monotonic() - started:6.1f}s] {text}", file=sys.stderr, flush=True)


def command(*words, **options):
    """Run a program that must succeed and return what it printed."""
    done = subprocess.run([str(word) for word in words], text=True, stdin=options.pop("stdin", subprocess.DEVNULL),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if done.returncode != 0:
        raise Trouble(f"{words[0]} exited with {done.returncode}: {' '.join(str(word) for word in words)}\n"
                      + done.stderr[-2000:] + done.stdout[-2000:])
    return done.stdout


def fetch(suite, target, *options):
    """Have mmdebstrap make the tar target of packages of a release of Debian, as its options say."""
    include = next(option.partition("=")[2] for option in options if option.startswith("--include="))
    with reason_in_one_line(f"cannot fetch {include} of Debian {suite}, and it is not in the cache"):
        # The archive's list of a release that is not out yet may be older than it says that it may be.
        # A kernel's package makes no initrd: who needs one makes it for the machine that it is for.
        command("mmdebstrap", '--aptopt=Acquire::Check-Valid-Until "false"', *options, suite, target,
                env=os.environ | {"INITRD": "No"})


@contextlib.contextmanager
def reason_in_one_line(what):
    """Say of a command that fails what it was for, and only the last line that it printed."""
    try:
        yield
    except Trouble as trouble:
        raise Trouble(f"{what}: {str(trouble).strip().splitlines()[-1]}") from None


@functools.cache
def package_version(name):
    """The version of an installed package, or None."""
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", name],
                           text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    status, _, version = asked.stdout.partition(" ")
    return version if status == "installed" else None


@functools.cache
def point_release(suite):
    """The point release of a Debian suite that the host's package lists know, like 12.9, or nothing."""
    for path in Path("/var/lib/apt/lists").glob(f"*_debian_dists_{suite}_*Release"):
        with open(path, encoding="utf-8", errors="replace") as lines:
            found = next((line for line in itertools.islice(lines, 20) if line.startswith("Version: ")), None)
        if found:
            return found.split()[1]
    return ""


def need_packages(*names):
    missing = [name for name in names if package_version(name) is None]
    if missing:
        say("installing " + " ".join(missing))
        with reason_in_one_line(f"cannot install {' '.join(missing)}"):
            command("apt-get", "install", "-q", "-y", "-o", "DPkg::Lock::Timeout=600", "--no-install-recommends", *missing)
        package_version.cache_clear()


def key_of(*parts):
    """A short name for a cached thing that changes whenever one of its ingredients does."""
    return hashlib.sha256("\0".join(str(part) for part in parts).encode()).hexdigest()[:16]


@contextlib.contextmanager
def exclusive(path):
    """Let one process at a time do something; the others wait."""
    with open(path, "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
