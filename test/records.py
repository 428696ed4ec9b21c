# SPDX-License-Identifier: LGPL-2.1-or-later
"""The file of records as headgated leaves it, see src/lvm/record_file.h: written and read by tests."""

from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip().replace("-", "")
HEAD = f'version = 2\nboot = "{BOOT}"\n'


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
