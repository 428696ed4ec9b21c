# SPDX-License-Identifier: LGPL-2.1-or-later
"""PVs with metadata that lvm2 has not written."""

import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "guest"))

from harness.metadata_area import HEADER_PLACE, HEADER_SIZE, PLACE, crc  # noqa: E402

AREA_START = 4096
MAGIC = b" LVM2 x[5A%r0N*>"


def identifier(letter, number):
    """As lvm2 writes it."""
    return f"{letter * 6}-{letter * 4}-{letter * 4}-{letter * 4}-{letter * 4}-{letter * 4}-{number:06}"


def text_of(n_pvs, n_lvs, tags=0, seqno=1, vg=0, device="/dev/x", first=0):
    """Metadata of a VG with PVs from the number `first` on."""
    tag_list = ", ".join(f'"t{number}"' for number in range(tags))
    parts = [f'hostile{vg} {{\nid = "{identifier("v", vg)}"\nseqno = {seqno}\nformat = "lvm2"\n'
             f'status = ["RESIZEABLE", "READ", "WRITE"]\ntags = [{tag_list}]\nextent_size = 8192\nphysical_volumes {{\n']
    parts += [f'p{i} {{\nid = "{identifier("p", first + i)}"\ndevice = "{device}"\npe_start = 2048\npe_count = 9\n}}\n' for i in range(n_pvs)]
    parts.append("}\nlogical_volumes {\n")
    parts += [f'l{i} {{\nid = "{identifier("l", i)}"\nstatus = ["READ", "WRITE", "VISIBLE"]\nsegment_count = 1\nsegment1 {{\n'
              f'start_extent = 0\nextent_count = 1\ntype = "striped"\nstripe_count = 1\nstripes = ["p0", {i}]\n}}\n}}\n'
              for i in range(n_lvs)]
    parts.append('}\n}\ncontents = "Text Format Volume Group"\nversion = 1\n')
    return "".join(parts).encode() + b"\0"


def write_pv(path, texts, number=0):
    """Write a PV with a metadata area for each text (lib/format_text/layout.h and lib/label/label.h of lvm2)."""
    areas, start = [], AREA_START
    with open(path, "wb") as file:
        for text in texts:
            size = HEADER_SIZE + len(text) + 4096
            size += -size % 4096
            header = bytearray(HEADER_SIZE)
            header[4:20] = MAGIC
            struct.pack_into("<IQQ", header, 20, 1, start, size)
            PLACE.pack_into(header, HEADER_PLACE, HEADER_SIZE, len(text), crc(text), 0)
            struct.pack_into("<I", header, 0, crc(bytes(header[4:])))
            file.seek(start)
            file.write(header + text)
            areas.append((start, size))
            start += size
        end = start + (4 << 20)
        lists = struct.pack("<QQQQ", start, 0, 0, 0) + b"".join(struct.pack("<QQ", *area) for area in areas) + bytes(16)
        pv = identifier("p", number).replace("-", "").encode() + struct.pack("<Q", end) + lists + struct.pack("<II", 2, 1) + bytes(16)
        label = bytearray(512)
        struct.pack_into("<8sQII8s", label, 0, b"LABELONE", 1, 0, 32, b"LVM2 001")
        label[32:32 + len(pv)] = pv
        struct.pack_into("<I", label, 16, crc(bytes(label[20:])))
        file.seek(512)
        file.write(label)
        file.truncate(end)
