# SPDX-License-Identifier: LGPL-2.1-or-later
"""LVs of many kinds, as text of metadata.

lvcreate can make some kinds only where device-mapper is, and not on the host. vgcfgrestore checks a text and writes it
anywhere. It is written here as lvm2 2.03.16 exports it, see lib/format_text/export.c there.
"""

import string
from dataclasses import dataclass, field

EXTENT_SECTORS = 128
# lvm2 makes no smaller metadata for a thin pool.
POOL_METADATA_EXTENTS = 32
# How many PVs each needs.
KINDS = {"linear": 1, "segments": 2, "striped": 2, "mirror": 2, "raid1": 2, "snapshot": 1, "thin": 1}
_ID_GROUPS = (6, 4, 4, 4, 4, 4, 6)


@dataclass
class Volume:
    name: str
    kind: str
    flags: list = field(default_factory=list)       # NOAUTOACTIVATE, ACTIVATION_SKIP
    tags: list = field(default_factory=list)
    writable: bool = True


def random_id(random):
    letters = [random.choice(string.ascii_letters + string.digits) for _ in range(sum(_ID_GROUPS))]
    return "-".join("".join(letters.pop() for _ in range(length)) for length in _ID_GROUPS)


class Writer:
    """Gives LVs their extents, on PVs "pv0", "pv1", ... of `sizes` extents each, and writes their sections."""

    def __init__(self, sizes, random):
        self.sizes = sizes
        self.used = [0] * len(sizes)
        self.snapshots = 0
        self.random = random

    def section(self, volumes):
        return "logical_volumes {\n" + "".join(getattr(self, f"_{volume.kind}")(volume) for volume in volumes) + "}\n"

    def _take(self, extents, but=()):
        """Extents on the emptiest PV; returns its number and the first extent."""
        pv = max((number for number in range(len(self.sizes)) if number not in but),
                 key=lambda number: self.sizes[number] - self.used[number])
        self.used[pv] += extents
        if self.used[pv] > self.sizes[pv]:
            raise ValueError("the PVs are too small")
        return pv, self.used[pv] - extents

    def _take_apart(self, count, extents):
        places = []
        for _ in range(count):
            places.append(self._take(extents, [pv for pv, _ in places]))
        return places

    def _lv(self, volume, *segments, name="", visible=True):
        status = ["READ"] + ["WRITE"] * volume.writable + ["VISIBLE"] * visible
        # A snapshot is not visible, and what makes it one is.
        own = name == volume.name or (visible and not name.startswith("snapshot"))
        flags, tags = (volume.flags, volume.tags) if own else ([], [])
        body = "".join(f"segment{number} {{\n{segment}}}\n" for number, segment in enumerate(segments, 1))
        return (f'{name or volume.name} {{\nid = "{random_id(self.random)}"\nstatus = {list_of(status)}\n'
                f"flags = {list_of(flags)}\n" + f"tags = {list_of(tags)}\n" * bool(tags) +
                f'creation_time = 1700000000\ncreation_host = "guest"\nsegment_count = {len(segments)}\n{body}}}\n')

    def _linear(self, volume):
        return self._lv(volume, _striped(4, [self._take(4)]))

    def _segments(self, volume):
        return self._lv(volume, *(_striped(2, [place], 2 * number)
                                  for number, place in enumerate(self._take_apart(2, 2))))

    def _striped(self, volume):
        return self._lv(volume, _striped(4, self._take_apart(2, 2)))

    def _mirror(self, volume):
        legs = [f"{volume.name}_mimage_{number}" for number in range(2)]
        return self._lv(volume, _segment(4, "mirror", mirror_count=2, region_size=EXTENT_SECTORS,
                                         mirrors=[word for leg in legs for word in (leg, 0)])) + "".join(
            self._lv(volume, _striped(4, [place]), name=leg, visible=False)
            for leg, place in zip(legs, self._take_apart(2, 4)))

    def _raid1(self, volume):
        parts, lines = [], ""
        for number, (pv, start) in enumerate(self._take_apart(2, 5)):
            for part, extents in ("rmeta", 1), ("rimage", 4):
                parts.append(f"{volume.name}_{part}_{number}")
                lines += self._lv(volume, _striped(extents, [(pv, start)]), name=parts[-1], visible=False)
                start += extents
        return self._lv(volume, _segment(4, "raid1", device_count=2, region_size=EXTENT_SECTORS, raids=parts)) + lines

    def _snapshot(self, volume):
        origin, store = f"{volume.name}_of", volume.name
        self.snapshots += 1
        return (self._lv(volume, _striped(4, [self._take(4)]), name=origin) +
                self._lv(volume, _striped(4, [self._take(4)]), name=store, visible=False) +
                self._lv(volume, _segment(4, "snapshot", chunk_size=8, origin=origin, cow_store=store),
                         name=f"snapshot{self.snapshots - 1}"))

    def _thin(self, volume):
        pool = f"{volume.name}_in"
        message = f'message1 {{\ncreate = "{volume.name}"\n}}\n'
        return (self._lv(volume, _segment(4, "thin-pool", metadata=f"{pool}_tmeta", pool=f"{pool}_tdata",
                                          transaction_id=1, chunk_size=EXTENT_SECTORS, discards="passdown",
                                          zero_new_blocks=1) + message, name=pool) +
                self._lv(volume, _segment(20, "thin", thin_pool=pool, transaction_id=0, device_id=1)) +
                self._lv(volume, _striped(4, [self._take(4)]), name=f"{pool}_tdata", visible=False) +
                self._lv(volume, _striped(POOL_METADATA_EXTENTS, [self._take(POOL_METADATA_EXTENTS)]),
                         name=f"{pool}_tmeta", visible=False))


def list_of(words):
    return "[" + ", ".join(f'"{word}"' if isinstance(word, str) else str(word) for word in words) + "]"


def _segment(extents, kind, start=0, **values):
    lines = [f"start_extent = {start}", f"extent_count = {extents}", f'type = "{kind}"']
    for key, value in values.items():
        if isinstance(value, list):
            value = list_of(value)
        elif isinstance(value, str):
            value = f'"{value}"'
        lines.append(f"{key} = {value}")
    return "".join(f"{line}\n" for line in lines)


def _striped(extents, places, start=0):
    size = {"stripe_size": EXTENT_SECTORS} if len(places) > 1 else {}
    return _segment(extents, "striped", start, stripe_count=len(places), **size,
                    stripes=[word for pv, first in places for word in (f"pv{pv}", first)])
