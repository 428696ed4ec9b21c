# SPDX-License-Identifier: LGPL-2.1-or-later
"""The file of records as headgated leaves it, see src/inventory/record-file.h, and what it says of a VG: written and read by tests."""

from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip().replace("-", "")
HEAD = f'version = 3\nboot = "{BOOT}"\n'


def identifier(kind, number):
    """One of LVM's, without dashes."""
    return f"{kind}{number:031d}"


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def value(content):
    """As lvm.conf's syntax has it."""
    if isinstance(content, str):
        return quote(content)
    if isinstance(content, (list, tuple)):
        return f"[ {', '.join(map(value, content))} ]"
    return str(int(content))


def assignments(keys):
    """A line for each key that has a value; zeros, which may be left out, are not."""
    return "".join(f"{key} = {value(content)}\n" for key, content in keys.items() if content is not None)


def pv(pvid, number="", device="/dev/sda", **more):
    """The keys of a PV; `number` is MAJOR:MINOR, of one that was seen."""
    return {"id": pvid, "number": number or None, "device": device, **more}


def lv(name, lvid, active=False, autoactivated=True):
    """The keys of an LV; `active` as of when the worker looked."""
    return {"name": name, "id": lvid, "autoactivated": autoactivated, "active": active}


def volume_group(name, vgid, state, pvs, lvs, **more):
    """The record of a VG, as vg_print() has it; `state` is the worker's: "waiting, overdue"."""
    def section(title, kind, members):
        parts = "".join(f"{kind}{number} {{\n{assignments(keys)}}}\n" for number, keys in enumerate(members))
        return f"{title} {{\n{parts}}}\n"

    return (assignments({"name": name, "id": vgid, "seqno": 1, "state": state} | more)
            + section("physical_volumes", "pv", pvs) + section("logical_volumes", "lv", lvs))


TIMES = ("first_seen_usec", "complete_usec", "activating_usec", "settled_usec")


def first(*times):
    """Of the first activation."""
    return dict(zip(("initial_seen_usec", "initial_complete_usec", "initial_activating_usec", "initial_settled_usec"), times))


def put_all(run, texts):
    """Add records, given as their keys and texts; an empty text removes one."""
    path = run / "records"
    head = "" if path.exists() else f"headgate {len(HEAD)}\n{HEAD}"
    with open(path, "a", encoding="utf-8") as file:
        file.write(head + "".join(f"{key} {len(text.encode())}\n{text}" for key, text in texts.items()) + "end 0\n")
    path.chmod(0o600)


def put(run, key, text):
    put_all(run, {key: text})


def read(run):
    """The texts of all records by their keys; none without a file."""
    path, found, step = run / "records", {}, {}
    data = path.read_bytes() if path.exists() else b""
    while b"\n" in data:
        header, _, data = data.partition(b"\n")
        key, size = header.decode().split(" ")
        step[key], data = data[:int(size)].decode(), data[int(size):]
        if key == "end":
            found |= step
            step = {}
    return {key: text for key, text in found.items() if text and key != "headgate"}
