# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine that words describe:

    waiting, complete, ..., failed   a VG, and its state on record; `unrecorded` for one that headgated does not know
    pvs=o.F     its PVs: o is there, . is missing, l came late; f and F are the first two with lvm2's MISSING flag
    lvs=++,m+-  its LVs: whether each was active on record, and is now (! is on a removed disk, t a pool of which only the LVs are);
                m before it: its autoactivation is off, s: its activation skip flag is set; `lvs=none`: there is none
    claimed     lvm2 has it in vgs_online
    overdue, bereft      its deadline has passed; it was active before it lost a PV
    lost, slow  as in the record: LVs may be on removed disks, ...
    reread      its record knows what backup=KIND says of it
    reason=KEY  as in the record, one of REASONS
    backup=KIND lvm2's backup of it: none, old, damaged, or with a property of METADATA; without this word, a good one
    name=NAME   the VG's name, `data` without this word; of several VGs of one name, lvm2's backup is of the first
    damaged, torn, replaced, removed, twin: see VolumeGroup.put()

A semicolon begins another VG. Words with an @ are of the whole machine, see DescribedMachine.WORDS.
"""

import json

import records
from records import identifier

STATES = ("waiting", "complete", "activating", "active", "degraded", "skipped", "failed", "unrecorded")
SECOND = 1_000_000
STARTED = 1_700_000_000 * SECOND  # when the machine was, on the other clock

REASONS = {
    "exported": "the VG is exported (vgimport makes it usable).",
    "shared": "the VG is shared (lock type sanlock), its cluster activates it.",
    "clustered": "the VG is clustered.",
    "off": "the VG's autoactivation is off (vgchange --setautoactivation y).",
    "foreign": "Cannot access VG data with system ID other with no local system ID.",
    "no-events": "event_activation=0 in lvm.conf.",
    "none-wanted": "lvm2's configuration excludes all of its LVs.",
    "others-unwanted": "lvm2's configuration excludes the other LVs.",
    "refused": "lvm2 does not accept its PV /dev/pv0: /dev/pv0 excluded: device is rejected by filter config.",
    "same-name": "there is another VG of this name.",
    "earlier-worker": "record of an earlier worker lost, possibly deactivated since (headgate activate data).",
    "device-mapper": "device-mapper: reload ioctl on  (254:7) failed: Invalid argument",
    "removed": "1 LV is still on a removed disk (headgate deactivate data, headgate activate data; if in use, "
               "vgchange --refresh data).",
    "lv1": "not activated: lv1.",
    "raids": "RAIDs do not use a PV that appeared late (see lvmraid(7)).",
    "unresponsive": "lvm2 waits for unresponsive device /dev/pv1.",
    "hostile": "line with \\033[1m, <&> and \"quotes\".",
}

METADATA = {"exported": ("status", "EXPORTED"), "clustered": ("status", "CLUSTERED"), "off": ("flags", "NOAUTOACTIVATE"),
            "foreign": ("system_id", "other"), "shared": ("lock_type", "sanlock")}
FACTS = {"exported": {"exported": True}, "clustered": {"clustered": True}, "off": {"autoactivation_off": True},
         "foreign": {"system_id": "other"}, "shared": {"lock_type": "sanlock"}}
LV_FLAGS = {"": "", "m": '"NOAUTOACTIVATE"', "s": '"ACTIVATION_SKIP"'}


def dashed(text):
    cuts = (0, 6, 10, 14, 18, 22, 26, 32)
    return "-".join(text[begin:end] for begin, end in zip(cuts, cuts[1:]))


class VolumeGroup:
    """One that words describe, put into a machine."""

    def __init__(self, number, text):
        words = text.split()
        self.state = next(word for word in words if word in STATES)
        options = dict(word.split("=", 1) for word in words if "=" in word)
        self.flags = {word for word in words if "=" not in word} - {self.state}
        self.name, self.backup = options.get("name", "data"), options.get("backup", "good")
        self.reason = REASONS[options["reason"]] if "reason" in options else None
        self.pvs = options.get("pvs", "o")
        self.lvs = [] if options["lvs"] == "none" else [(word[:-2], *word[-2:]) for word in options["lvs"].split(",")]
        self.number, self.id = number, identifier("v", number)

    def pv_id(self, index):
        return identifier("p", self.number * 100 + index)

    def lv_id(self, index):
        return identifier("l", self.number * 100 + index)

    def text(self, state=None):
        """Its record, as vg_print() has it."""
        state, is_whole = state or self.state, not set(self.pvs) & set(".F")
        asked = state not in ("waiting", "complete", "skipped")
        times = [SECOND, 2 * SECOND * (is_whole and state != "waiting"), 3 * SECOND * asked,
                 4 * SECOND * (asked and state != "activating" or state == "skipped")]
        pvs = [records.pv(self.pv_id(index), "" if pv in ".F" else f"240:{self.minor(index)}", f"/dev/pv{self.minor(index)}",
                          flagged=pv in "fF", late_usec=(pv == "l") * 6 * SECOND) for index, pv in enumerate(self.pvs)]
        lvs = [records.lv(f"lv{index}", self.lv_id(index), before == "+", not kind) for index, (kind, before, _) in enumerate(self.lvs)]
        return records.volume_group(
            self.name, self.id, self.worker_state(state), pvs, lvs, seqno=5, slow="slow" in self.flags, lost_pv="lost" in self.flags,
            **dict(zip(records.TIMES, times)), clock_usec=STARTED, degraded_usec=(state == "degraded") * 5 * SECOND // 2,
            **records.first(*(times if state in ("active", "degraded") else (0,) * 4)), reason=self.reason,
            **(FACTS.get(self.backup, {}) if "reread" in self.flags or state == "skipped" else {}))

    def worker_state(self, state):
        """Words of headgated(8)."""
        lost = ["lost"] * ("bereft" in self.flags) + ["overdue"] * ("overdue" in self.flags)
        if state == "waiting" and lost:
            return f"waiting, {' and '.join(lost)}"
        return "complete, due" if state == "complete" and lost else state

    def minor(self, index):
        return self.number * 100 + index

    def metadata(self):
        """Its backup, as vgcfgbackup(8) writes it."""
        key, value = METADATA.get(self.backup, ("", ""))
        status = ["RESIZEABLE", "READ", "WRITE", *[value] * (key == "status")]
        lines = ['contents = "Text Format Volume Group"', "version = 1", 'description = ""', 'creation_host = "example"',
                 "creation_time = 1700000000", f"{self.name} {{", f'id = "{dashed(self.id)}"',
                 f"seqno = {4 if self.backup == 'old' else 5}", f"status = {json.dumps(status)}",
                 f"flags = {json.dumps([value] * (key == 'flags'))}", *[f'{key} = "{value}"'] * (key in ("system_id", "lock_type")),
                 "extent_size = 2048", "physical_volumes {"]
        for index, pv in enumerate(self.pvs):
            lines += [f"pv{index} {{", f'id = "{dashed(self.pv_id(index))}"', f'device = "/dev/pv{self.minor(index)}"',
                      'status = ["ALLOCATABLE"]', f"flags = {json.dumps(['MISSING'] * (pv in 'fF'))}",
                      "dev_size = 32768", "pe_start = 2048", "pe_count = 15", "}"]
        lines += ["}", "logical_volumes {"] * bool(self.lvs)
        for index, (kind, *_) in enumerate(self.lvs):
            lines += [f"lv{index} {{", f'id = "{dashed(self.lv_id(index))}"', 'status = ["READ", "WRITE", "VISIBLE"]',
                      f"flags = [{LV_FLAGS[kind]}]", "segment_count = 1", "segment1 {", "start_extent = 0", "extent_count = 1",
                      'type = "striped"', "stripe_count = 1", f'stripes = [ "pv0", {index} ]', "}", "}"]
        return "\n".join([*lines, "}", "}"]) + "\n"

    def put(self, machine):
        """All that tells of it."""
        if self.state != "unrecorded":
            self.put_record(machine)
        if self.backup != "none":
            machine.files.setdefault(f"etc/lvm/backup/{self.name}", "damaged {" if self.backup == "damaged" else self.metadata())
        if "claimed" in self.flags:
            machine.files[f"run/lvm/vgs_online/{self.name}"] = ""
        for index, pv in enumerate(self.pvs):
            if pv not in ".F":
                machine.put_pv(self.minor(index), self.pv_id(index), self.name, self.state != "unrecorded")
        if "twin" in self.flags:  # another device has the first PV, too
            machine.put_pv(self.minor(99), self.pv_id(0), self.name, True)
        for index, (_, _, now) in enumerate(self.lvs):
            if now != "-":
                machine.put_lv(self, index, now)

    def put_record(self, machine):
        if "damaged" in self.flags:
            machine.records.append((self.id, "name = \n"))
            return
        if "replaced" in self.flags:  # an earlier record of it says that it waits
            machine.records.append((self.id, self.text("waiting")))
        machine.records.append((self.id, self.text()))
        if "removed" in self.flags:
            machine.records.append((self.id, ""))
        if "torn" in self.flags:  # a step that was not written wholly says that it waits
            machine.torn = f"{self.id} {len(self.text('waiting'))}\n{self.text('waiting')}"


class DescribedMachine:
    """Files and links by their paths, and records in the order in which they were written."""

    WORDS = {
        "@not-in-charge": lambda self: self.files.pop("run/headgate/taken-over"),
        "@booting": lambda self: self.files.pop("run/headgate/boot-finished"),
        "@no-device-mapper": lambda self: self.hide_devices(),
        "@fstab": lambda self: self.files.update({"etc/fstab": "/dev/data/lv0 /srv ext4 defaults 0 2\n"}),
        "@fstab-id": lambda self: self.files.update({"etc/fstab": f"/dev/disk/by-id/dm-uuid-LVM-{identifier('v', 0)}{identifier('l', 0)} /srv ext4\n"}),
        "@fstab-hint": lambda self: self.files.update({"etc/fstab": "UUID=1 /srv ext4\n", "etc/headgate/uuids": "UUID=1 data\n"}),
        "@link": lambda self: self.files.update({"dev/data/lv0": ""}),
        "@fstab-noauto": lambda self: self.files.update({"etc/fstab": "/dev/data/lv0 /srv ext4 noauto 0 2\n"}),
        "@boot-volume-groups": lambda self: self.configure('boot_volume_groups = [ "data" ]\n'),
        "@net-volume-groups": lambda self: self.configure('net_volume_groups = [ "data" ]\n'),
        "@degraded-allowed": lambda self: self.configure('volume_groups {\n data {\n degraded = "yes"\n }\n}\n'),
        "@no-events": lambda self: self.files.update({"etc/lvm/lvm.conf": "global {\n event_activation = 0\n}\n"}),
        "@list": lambda self: self.files.update(
            {"etc/lvm/lvm.conf": 'activation {\n auto_activation_volume_list = [ "other", "data/lv0" ]\n}\n'}),
        "@list-of-others": lambda self: self.files.update(
            {"etc/lvm/lvm.conf": 'activation {\n auto_activation_volume_list = [ "other" ]\n}\n'}),
        "@volume-list": lambda self: self.files.update({"etc/lvm/lvm.conf": 'activation {\n volume_list = [ "other" ]\n}\n'}),
        "@removed-pv-online": lambda self: self.files.update(
            {f"run/lvm/pvs_online/{identifier('p', 0)}": "240:9\nvg:data\ndev:/dev/pv9\n"}),
        "@only-claimed": lambda self: self.files.update({"run/lvm/vgs_online/data": ""}),
        "@second-first": lambda self: self.records.reverse(),  # as to their order on record
        "@other-version": lambda self: setattr(self, "version", 1),
        "@requested": lambda self: self.files.update({"run/headgate/pending.d/vg:data": "", "run/headgate/pending": ""}),
        "@expected": lambda self: self.files.update({"run/headgate/pending.d/expect:data": "", "run/headgate/pending": ""}),
    }

    def __init__(self, text):
        self.files = {"run/headgate/taken-over": "", "run/headgate/boot-finished": ""}
        self.links, self.records, self.torn, self.version = {}, [], "", None
        self.folders = {"run/headgate", "run/lvm/pvs_online", "run/lvm/vgs_online", "etc/lvm/backup", "proc", "sys/dev/block"}
        self.n_lvs = 0
        self.devices = []  # each with the PVID that headgated has seen on it
        words = text.split()
        groups = " ".join(word for word in words if not word.startswith("@"))
        self.groups = [VolumeGroup(number, part) for number, part in enumerate(groups.split(";")) if part.strip()]
        for group in self.groups:
            group.put(self)
        for word in words:
            if word.startswith("@"):
                self.WORDS[word](self)

    def hide_devices(self):
        """There is a file in the place of their directory."""
        self.files["sys/class/block"] = ""
        self.links = {path: target for path, target in self.links.items() if not path.startswith("sys/class/block/")}

    def configure(self, text):
        self.files["etc/headgate/headgate.conf"] = text

    def put_device(self, number, name):
        place = f"sys/devices/virtual/block/{name}"
        self.files[f"{place}/dev"] = f"{number}\n"
        self.links[f"sys/dev/block/{number}"] = f"../../devices/virtual/block/{name}"
        return place

    def put_pv(self, minor, pvid, name, known):
        self.put_device(f"240:{minor}", f"pv{minor}")
        self.files[f"run/lvm/pvs_online/{pvid}"] = f"240:{minor}\nvg:{name}\ndev:/dev/pv{minor}\n"
        if known:
            self.devices.append((f"240:{minor}", pvid))

    def put_lv(self, group, index, now):
        minor = self.n_lvs
        self.n_lvs += 1
        name = f"{group.name.replace('-', '--')}-lv{index}"
        uuid = f"LVM-{group.id}{group.lv_id(index)}{'-tpool' * (now == 't')}"
        place = self.put_device(f"254:{minor}", f"dm-{minor}")
        self.files |= {f"{place}/dm/name": f"{name}{'-tpool' * (now == 't')}\n", f"{place}/dm/uuid": f"{uuid}\n"}
        self.links[f"sys/class/block/dm-{minor}"] = f"../../devices/virtual/block/dm-{minor}"
        below = "removed" if now == "!" else f"pv{group.minor(0)}"
        self.links[f"{place}/slaves/{below}"] = f"../../{below}"

    def write(self, root):
        """All of it but what headgated has written down."""
        for folder in self.folders:
            (root / folder).mkdir(parents=True, exist_ok=True)
        for path, text in self.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        for path, target in self.links.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).symlink_to(target)

    def write_records(self, root):
        """What headgated has written down, a step for each record."""
        run = root / "run/headgate"
        for key, text in self.records:
            records.put(run, key, text)
        if self.devices:
            records.put_all(run, {number: f'pvid = "{pvid}"\ndiskseq = 0\n' for number, pvid in self.devices})
        if self.torn:
            with open(run / "records", "a", encoding="utf-8") as file:
                file.write(self.torn)
        if self.version:
            text = (run / "records").read_text(encoding="utf-8")
            (run / "records").write_text(text.replace("version = 3\n", f"version = {self.version}\n", 1), encoding="utf-8")
