# SPDX-License-Identifier: LGPL-2.1-or-later
"""Changes the text in the metadata areas of a PV's image, for what lvm2 refuses to write.

The format is lvm2's, lib/format_text/layout.h and lib/label/label.h there.
"""

import struct
import zlib

SECTOR = 512
LABEL_SECTORS = 4
ID_LENGTH = 32
CRC_INITIAL = 0xf597a6cf
IGNORED = 1
# In the header of an area: checksum, magic, version, start, size, then places of texts, of which the first counts.
HEADER_SIZE = 512
HEADER_PLACE = 40
PLACE = struct.Struct("<QQII")


def crc(data):
    """lvm2's: CRC-32 with another beginning, and not inverted."""
    return zlib.crc32(data, CRC_INITIAL ^ 0xffffffff) ^ 0xffffffff


def _label(file):
    file.seek(0)
    head = file.read(LABEL_SECTORS * SECTOR)
    for sector in range(LABEL_SECTORS):
        label = head[sector * SECTOR:(sector + 1) * SECTOR]
        if label.startswith(b"LABELONE"):
            return label[struct.unpack_from("<I", label, 20)[0]:]
    raise ValueError(f"{file.name} is no PV")


def pvid(path):
    with open(path, "rb") as file:
        return _label(file)[:ID_LENGTH].decode()


def uuid(path):
    """As lvm2 shows it."""
    plain = pvid(path)
    return "-".join((plain[:6], *(plain[start:start + 4] for start in range(6, 26, 4)), plain[26:]))


def _areas(file):
    """Offset and size of each."""
    header, position, lists = _label(file), ID_LENGTH + 8, 0
    while lists < 2:
        offset, size = struct.unpack_from("<QQ", header, position)
        position += 16
        if offset == 0:
            lists += 1
        elif lists == 1:
            yield offset, size


def edit(path, change):
    """Replace each text in use by change(text), in which bytes that are no UTF-8 are surrogates."""
    with open(path, "r+b") as file:
        for start, size in list(_areas(file)):
            file.seek(start)
            header = bytearray(file.read(HEADER_SIZE))
            offset, length, _, flags = PLACE.unpack_from(header, HEADER_PLACE)
            if offset == 0 or flags & IGNORED:
                continue
            file.seek(start + offset)
            text = change(file.read(length).rstrip(b"\0").decode(errors="surrogateescape"))
            text = text.encode(errors="surrogateescape") + b"\0"
            if offset + len(text) > size:
                raise ValueError(f"the metadata area of {path} is too small")
            file.seek(start + offset)
            file.write(text)
            PLACE.pack_into(header, HEADER_PLACE, offset, len(text), crc(text), flags)
            struct.pack_into("<I", header, 0, crc(bytes(header[4:])))
            file.seek(start)
            file.write(header)


def behead(path):
    """Make the checksum of each area's header wrong."""
    with open(path, "r+b") as file:
        for start, _ in list(_areas(file)):
            file.seek(start)
            file.write(b"damage")


def damage(path):
    """Make the checksum of each text wrong."""
    with open(path, "r+b") as file:
        for start, _ in list(_areas(file)):
            file.seek(start + HEADER_PLACE)
            offset, length, _, _ = PLACE.unpack(file.read(PLACE.size))
            if offset:
                file.seek(start + offset + length // 2)
                file.write(b"damage")
