# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boots and shutdowns as headgated and headgate-teardown leave them, in the records and in the journal, for tests of blame and
plot."""

import random
import subprocess

STARTED = 2_500_000  # microseconds after the start of the kernel: when the first PV is seen


def write_boot(machine, n, seed=1, troubles=True):
    """A boot with n VGs, in vgchange batches that grow, a few of which have failed, wait or are skipped."""
    chance = random.Random(seed)
    names = [f"vg{i:04d}" for i in range(n)]
    if n >= 8 and troubles:
        names[1] = "data<&>\"'"  # lvm2 would not have it; what comes from elsewhere may be anything
    first = [STARTED + chance.randrange(0, 4_000 * n + 200_000) for _ in range(n)]
    complete = [usec + chance.choice((0, 0, 300_000, 900_000)) for usec in first]
    waiting = set(range(3, n, max(n // 3, 4))) if n >= 8 and troubles else set()
    clock, todo, done = 0, sorted(set(range(n)) - waiting, key=complete.__getitem__), {}
    while todo:
        clock = max(clock, complete[todo[0]]) + 40_000
        batch = [number for number in todo if complete[number] <= clock][:512]
        todo = [number for number in todo if number not in set(batch)]
        asked, clock = clock, clock + 50_000 + len(batch) * 20_000
        done |= {number: (asked, clock) for number in batch}
    for number, name in enumerate(names):
        if number in waiting:
            machine.volume_group(number, name, "waiting", (first[number], 0, 0, 0), n_pvs=2, n_seen=1)
            continue
        asked, settled = done[number]
        state, reason = "active", None
        if troubles and n >= 8 and number % max(n // 2, 5) == 4:
            state, reason = "failed", "device-mapper: reload ioctl on  (254:7) failed: <Invalid> & argument"
        elif troubles and n >= 8 and number % max(n // 2, 6) == 5:
            state, reason, asked, settled = "skipped", "it is exported.", 0, complete[number] + 1000
        machine.volume_group(number, name, state, (first[number], complete[number], asked, settled), reason=reason)
        if state == "active":
            machine.activate(number, name)


def export_entry(number, boot, fields, monotonic=None):
    """One entry in the journal's export format, see https://systemd.io/JOURNAL_EXPORT_FORMATS/."""
    monotonic = monotonic or 100_000_000 + number * 1000
    lines = [f"__CURSOR=s={'0' * 31}1;i={number:x};b={boot};m={monotonic:x};t={1_700_000_000_000_000 + monotonic:x};"
             f"x={number:x}", f"__REALTIME_TIMESTAMP={1_700_000_000_000_000 + monotonic}",
             f"__MONOTONIC_TIMESTAMP={monotonic}", f"_BOOT_ID={boot}"]
    data = "\n".join(lines).encode() + b"\n"
    for key, value in fields.items():
        value = str(value).encode()
        if b"\n" in value:
            data += key.encode() + b"\n" + len(value).to_bytes(8, "little") + value + b"\n"
        else:
            data += key.encode() + b"=" + value + b"\n"
    return data + b"\n"


TIMELINE = "67f98fbb06484034bd2c2391683b255a"
SHUTDOWN = "98268866d1d54a499c4e98921d93bc40"  # SD_MESSAGE_SHUTDOWN of systemd's sd-messages.h
UNIT_STOPPED = "9d1aaa27d60140bd96365438aad20286"  # SD_MESSAGE_UNIT_STOPPED
BOOT = "0123456789abcdef0123456789abcdef"
EARLIER_BOOT = "fedcba9876543210fedcba9876543210"
# What a line of HEADGATE_BARS is made of, see headgate-differences(7).
WORDS = ("state end first_usec pvs_usec queue_usec lvm2_usec udev_usec held_usec removal_usec asked_usec linked_usec complete_usec "
         "n_pvs n_lvs n_tries uuid name tree kind reason").split()
TEXTS = {"state", "end", "uuid", "name", "tree", "kind", "reason"}


def bar(**words):
    """One line of HEADGATE_BARS."""
    assert words.keys() <= set(WORDS), words
    return "\t".join(str(words.get(word, "" if word in TEXTS else 0)) for word in WORDS) + "\n"


def gone(name, tree, first=1, held=1, removal=1, tries=1):
    return bar(state="gone", end="done", first_usec=first, held_usec=held, removal_usec=removal, asked_usec=first, n_tries=tries,
               name=name, tree=tree, kind="linear")


def timeline_line(kind, *bars, **fields):
    """The fields of a line of the journal with these bars."""
    return {"_UID": "0", "_HOSTNAME": "guest", "MESSAGE_ID": TIMELINE, "MESSAGE": "Timeline recorded.", "HEADGATE_TIMELINE": kind,
            "HEADGATE_KERNEL": "6.1.0-written", "HEADGATE_BARS": "".join(bars), **fields}


def shutdown_request(**fields):
    """The fields of the line that systemd-logind logs when a shutdown is requested."""
    return {"_UID": "0", "MESSAGE_ID": SHUTDOWN, "SYSLOG_IDENTIFIER": "systemd-logind", "MESSAGE": "System is rebooting.", **fields}


def write_journal(folder, remote, entries):
    """Write a journal of entries, each a boot, its fields and maybe its monotonic time, by systemd-journal-remote; returns the file."""
    export, journal = folder / "export", folder / "written.journal"
    export.write_bytes(b"".join(export_entry(number + 1, *entry) for number, entry in enumerate(entries)))
    subprocess.run([remote, "-o", journal, export], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return journal


def shutdown_entries(n, started=90_000_000, seed=1, troubles=True):
    """A shutdown with n devices, four to a storage tree in small ones, and one that is left."""
    chance = random.Random(seed)
    per_tree = 4 if n < 100 else 1
    bars = []
    for tree in range(-(-n // per_tree)):
        waited = chance.randrange(0, 300_000)
        for node in range(min(per_tree, n - tree * per_tree)):
            took = chance.choice((3_000, 8_000, 20_000, 400_000 if chance.random() < 0.2 else 12_000))
            bars.append(gone(f"vg{tree:04d}-lv<{node}>&", f"vg{tree:04d}", started, waited, took, 1 + took // 100_000))
            waited += took
        if troubles and tree == 1:
            bars.append(bar(state="left", end="failed", first_usec=started, held_usec=100_000, removal_usec=950_000,
                            asked_usec=started, n_tries=9, name="vg0001-busy", tree="vg0001", kind="linear",
                            reason="process 7 (sleep <&>) has it open"))
    return [(EARLIER_BOOT, timeline_line("shutdown", gone("older-lv", "older"))),
            *((BOOT, timeline_line("shutdown", *bars[i:i + 300])) for i in range(0, len(bars), 300))]
