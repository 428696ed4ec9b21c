# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the file of records out of what version 1 has in /run/headgate.

Version 1 has a file vgs/VGID for each VG, with the text that is its record in version 2; vgs.list, all of these in one file, while
nothing changes; a link devices/MAJOR:MINOR to the PVID, with a dot and the disk's sequence number behind it where that is known; and
links members/PVID to the VGID, which say nothing that the others do not.
"""

import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import records  # noqa: E402


def order(run):
    """VGIDs in the order in which a reader of version 1 found them, as far as that was certain."""
    path = run / "vgs.list"
    data, found = path.read_bytes() if path.exists() else b"", []
    while data:
        header, _, data = data.partition(b"\n")
        vgid, size = header.decode().split(" ")
        found.append(vgid)
        data = data[int(size):]
    return found or sorted(os.listdir(run / "vgs"))


def device(target):
    pvid, _, diskseq = target.partition(".")
    return f'pvid = "{pvid}"\ndiskseq = {diskseq or 0}\n'


def convert(run):
    """Puts the file into that run directory, and removes what it replaces."""
    if not (run / "vgs").exists():
        return
    found = {vgid: (run / "vgs" / vgid).read_text(encoding="utf-8") for vgid in order(run)}
    found |= {link.name: device(os.readlink(link)) for link in sorted((run / "devices").iterdir())}
    for folder in "vgs", "members", "devices":
        shutil.rmtree(run / folder)
    (run / "vgs.list").unlink(missing_ok=True)
    records.put_all(run, found)
