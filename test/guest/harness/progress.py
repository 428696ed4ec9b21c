# SPDX-License-Identifier: LGPL-2.1-or-later
"""Progress lines with times, external commands, and the packages that the harness itself needs."""

import contextlib
import fcntl
import functools
import hashlib
import re
import subprocess
import sys
import time

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


def package_version(name):
    """The version of an installed package, or None."""
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", name],
                           text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    status, _, version = asked.stdout.partition(" ")
    return version if status == "installed" else None


@functools.cache
def point_release(suite):
    """The point release of a Debian suite that the host's package lists know, like 12.9, or nothing."""
    found = re.search(rf"v=([\d.]+),o=Debian,.*n={suite},", command("apt-cache", "policy"))
    return found[1] if found else ""


def need_packages(*names):
    missing = [name for name in names if package_version(name) is None]
    if missing:
        say("installing " + " ".join(missing))
        command("apt-get", "install", "-q", "-y", "--no-install-recommends", *missing)


def key_of(*parts):
    """A short name for a cached thing that changes whenever one of its ingredients does."""
    return hashlib.sha256("\0".join(str(part) for part in parts).encode()).hexdigest()[:16]


@contextlib.contextmanager
def exclusive(path):
    """Let one process at a time do something; the others wait."""
    with open(path, "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
