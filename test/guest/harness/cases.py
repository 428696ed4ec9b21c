# SPDX-License-Identifier: LGPL-2.1-or-later
"""Generates cases: machines with PVs of all kinds, and of all kinds of trouble, and the order in which the PVs come.

A case is made of a seed and its number alone, so that it can be repeated alone.
"""

import random as randomness
import re
import string
from dataclasses import dataclass, field

from harness.volumes import KINDS as VOLUME_KINDS, Volume

# Of disks there are so many in the guest, each so large.
DISKS_MAX = 10
DISK_MIB = 8
HERE, ELSEWHERE = "here", "elsewhere"


@dataclass
class Pv:
    copies: int = 1             # of the metadata
    ignored: bool = False       # these copies
    sector: int = 1             # of the label
    mib: float = DISK_MIB       # when it was made
    comes: bool = True
    loop: bool = False          # comes as a loop device, of its own size; all others as disks of DISK_MIB
    twin: bool = False          # comes twice
    left: bool = False          # the VG was reduced by it while it was not there
    joined: bool = False        # the VG was extended by it
    asleep: bool = False        # was not there when the metadata was changed for the last time
    damaged: bool = False       # its metadata
    beheaded: bool = False      # the header before it is damaged


@dataclass
class Group:
    """A VG."""
    name: str
    pvs: list
    volumes: list
    tags: list = field(default_factory=list)
    commands: list = field(default_factory=list)    # of lvm2; it names its VG itself
    edits: list = field(default_factory=list)       # pairs for re.sub, of the text on all PVs


@dataclass
class Case:
    number: int
    kinds: list = field(default_factory=list)
    groups: list = field(default_factory=list)
    orphans: list = field(default_factory=list)
    arrivals: list = field(default_factory=list)    # PVs; one with a twin is in it twice
    paced: bool = False                             # each comes when the one before has been dealt with
    conf: dict = field(default_factory=dict)        # (section, key) -> value; "<UUID n>" is that of the n-th arrival
    devices_file: list = None                       # numbers of arrivals, as pairs: which, and known as which
    run_files: dict = field(default_factory=dict)   # that are in /run/lvm from the beginning; "<PVID GROUP n>" is a PV

    @property
    def main(self):
        return self.groups[0]

    def pvs(self):
        return [pv for group in self.groups for pv in group.pvs] + self.orphans

    def device_names(self):
        """Of the arrivals: the kernel gives the first free letter, and loop devices are numbered from 1."""
        disks, loops = iter("abcdefghij"), iter(range(1, 100))
        return [f"/dev/loop{next(loops)}" if pv.loop else f"/dev/sd{next(disks)}" for pv in self.arrivals]

    def __str__(self):
        numbers = {id(pv): f"{group.name}.{number}" for group in self.groups for number, pv in enumerate(group.pvs)}
        numbers |= {id(pv): f"orphan.{number}" for number, pv in enumerate(self.orphans)}
        groups = [f"{group.name}({' '.join(map(describe, group.pvs))}: "
                  f"{' '.join(volume.kind for volume in group.volumes)})" for group in self.groups]
        return (f"{self.number:4} {'+'.join(self.kinds)}: {', '.join(groups)}"
                + f", {len(self.orphans)} orphans" * bool(self.orphans)
                + f"; {'paced' if self.paced else 'burst'}: {' '.join(numbers[id(pv)] for pv in self.arrivals)}")


def describe(pv):
    words = [f"{pv.copies}{'i' if pv.ignored else ''}"]
    if pv.sector != 1:
        words.append(f"sector{pv.sector}")
    if pv.mib != DISK_MIB:
        words.append(f"{pv.mib}M")
    words += [name for name in ("loop", "twin", "left", "joined", "asleep", "damaged", "beheaded") if getattr(pv, name)]
    return "/".join(words + ["missing"] * (not pv.comes))


# ------ kinds of trouble: each is a function that changes a case

@dataclass
class Kind:
    apply: object
    pvs: int = 1                # that the VG has to have, at least
    late: bool = False          # applied when the order of arrival is known
    refuses: bool = False       # nothing of the VG comes up; another VG is added, which does
    silent: bool = False        # nothing at all comes up in such a case
    order: bool = False         # what comes up depends on the order, so each PV has to be dealt with before the next
    volumes: int = 1
    family: str = ""            # of one family there is only one in a case


KINDS = {"plain": Kind(lambda case, random: None)}


def kind(name, **options):
    def register(function):
        KINDS[name] = Kind(function, **{"family": name.split("-", maxsplit=1)[0], **options})
        return function
    return register


def add_line(text):
    """To the VG's own values."""
    return (r"(?m)^extent_size = ", f"{text}\nextent_size = ")


def command_kind(name, *words, **options):
    kind(name, **options)(lambda case, random: case.main.commands.append(list(words)))


def edit_kind(name, *edits, **options):
    kind(name, **options)(lambda case, random: case.main.edits.extend(edits))


def id_kind(name, group_id, conf, **options):
    @kind(name, family="id", **options)
    def _apply(case, random):
        case.main.edits.append(add_line(f'system_id = "{group_id}"'))
        case.conf |= conf


HAS_ID = {("global", "system_id_source"): '"lvmlocal"', ("local", "system_id"): f'"{HERE}"'}

command_kind("exported", "vgexport", refuses=True)
command_kind("vg-not-automatic", "vgchange", "--setautoactivation", "n", refuses=True)
id_kind("foreign", ELSEWHERE, HAS_ID, refuses=True)
id_kind("own-system-id", HERE, HAS_ID)
id_kind("extra-system-id", ELSEWHERE, HAS_ID | {("local", "extra_system_ids"): f'[ "{ELSEWHERE}" ]'}, refuses=True)
id_kind("no-system-id", ELSEWHERE, {}, refuses=True)
edit_kind("sanlock", add_line('lock_type = "sanlock"\nlock_args = "1.0.0:lvmlock"'), refuses=True, family="lock")
edit_kind("dlm", add_line('lock_type = "dlm"\nlock_args = "1.0.0:cluster"'), refuses=True, family="lock")
edit_kind("lock-type-none", add_line('lock_type = "none"'), family="lock")
edit_kind("clustered", (r'"RESIZEABLE"', '"RESIZEABLE", "CLUSTERED"'), refuses=True)
edit_kind("clvm", add_line('lock_type = "clvm"'), refuses=True, family="lock")
edit_kind("read-only", (r'("RESIZEABLE", "READ"), "WRITE"', r"\1"), refuses=True)
edit_kind("unknown-status", (r'"RESIZEABLE"', '"RESIZEABLE", "STRANGE"'), refuses=True)
edit_kind("unknown-flag", (r"(?s)^(.*?)flags = \[\]", r'\1flags = ["STRANGE"]'), refuses=True)
edit_kind("unknown-version", (r"(?m)^version = 1$", "version = 2"), refuses=True)
edit_kind("unknown-segment", (r'(?s)(logical_volumes \{.*?type = )"striped"', r'\1"future"'), refuses=True, volumes=2)
edit_kind("unknown-segment-flag", (r'(?s)(logical_volumes \{.*?type = )"striped"', r'\1"striped+FUTURE"'), refuses=True, volumes=2)


@kind("lv-not-automatic", volumes=2)
def lv_not_automatic(case, random):
    case.main.volumes[0].flags.append("NOAUTOACTIVATE")


@kind("lv-skipped", volumes=2)
def lv_skipped(case, random):
    case.main.volumes[0].flags.append("ACTIVATION_SKIP")


@kind("lv-read-only")
def lv_read_only(case, random):
    case.main.volumes[0].writable = False


@kind("missing", pvs=2, refuses=True)
def missing(case, random):
    for pv in random.sample(case.main.pvs, random.randint(1, min(2, len(case.main.pvs) - 1))):
        pv.comes = False


@kind("missing-flag", pvs=2, refuses=True)
def missing_flag(case, random):
    number = random.randrange(len(case.main.pvs))
    case.main.edits.append((rf"(?s)(pv{number} \{{.*?flags = )\[\]", r'\1["MISSING"]'))


@kind("missing-flag-unused", pvs=1)
def missing_flag_unused(case, random):
    case.main.pvs.append(Pv(joined=True))
    case.main.edits.append((rf"(?s)(pv{len(case.main.pvs) - 1} \{{.*?flags = )\[\]", r'\1["MISSING"]'))


@kind("outdated", order=True)
def outdated(case, random):
    case.main.pvs.append(Pv(left=True))


@kind("outdated-asleep", order=True, pvs=2)
def outdated_asleep(case, random):
    case.main.pvs[-1].asleep = True


@kind("extended", order=True, pvs=2)
def extended(case, random):
    case.main.pvs.append(Pv(joined=True))
    random.choice(case.main.pvs[:-1]).asleep = True


for _sector in 0, 2, 3:
    @kind(f"label-sector-{_sector}", refuses=True)
    def label_sector(case, random, sector=_sector):
        random.choice(case.main.pvs).sector = sector


@kind("twin", order=True)
def twin(case, random):
    random.choice(case.main.pvs).twin = True


@kind("twin-together")
def twin_together(case, random):
    twin(case, random)


@kind("twin-allowed", order=True)
def twin_allowed(case, random):
    twin(case, random)
    case.conf["devices", "allow_changes_with_duplicate_pvs"] = "1"


@kind("same-name", order=True)
def same_name(case, random):
    case.groups.append(Group(case.main.name, [Pv() for _ in range(random.randint(1, 2))], [Volume("lv0", "linear")]))


@kind("same-name-other-lv", order=True)
def same_name_other_lv(case, random):
    case.groups.append(Group(case.main.name, [Pv()], [Volume("other", "linear")]))


@kind("same-name-foreign", order=True)
def same_name_foreign(case, random):
    case.groups.append(Group(case.main.name, [Pv()], [Volume("other", "linear")]))
    case.groups[-1].edits.append(add_line(f'system_id = "{ELSEWHERE}"'))
    case.conf |= HAS_ID


@kind("same-id", order=True)
def same_id(case, random):
    case.groups.append(Group(f"copy{case.number}", [Pv() for _ in range(random.randint(1, 2))], [Volume("lv0", "linear")]))
    for group in case.groups[0], case.groups[-1]:
        edit(group, r'(?m)^id = "[^"]*"', 'id = "abcdef-0123-4567-89ab-cdef-0123-456789"')


@kind("small", refuses=True)
def small(case, random):
    case.main.pvs.append(Pv(loop=True, mib=1.75))


@kind("larger")
def larger(case, random):
    random.choice(case.main.pvs).mib = DISK_MIB + 4


@kind("smaller")
def smaller(case, random):
    random.choice(case.main.pvs).mib = DISK_MIB - 2


@kind("orphans")
def orphans(case, random):
    case.orphans += [Pv(copies=random.randint(0, 2)) for _ in range(random.randint(1, 2))]


@kind("loop")
def loop(case, random):
    for pv in random.sample(case.main.pvs, random.randint(1, len(case.main.pvs))):
        pv.loop = True


@kind("damaged", pvs=2, refuses=True)
def damaged(case, random):
    random.choice(case.main.pvs).damaged = True


@kind("damaged-header", pvs=2, refuses=True)
def damaged_header(case, random):
    random.choice(case.main.pvs).beheaded = True


@kind("damaged-all", refuses=True)
def damaged_all(case, random):
    for pv in case.main.pvs:
        pv.damaged = True


def list_kinds(name, key):
    """Of the two lists in lvm.conf that choose what is activated."""
    def set_list(case, *words):
        case.conf["activation", key] = "[ " + ", ".join(f'"{word}"' for word in words) + " ]"

    def register(variant, words, change=lambda case: None, **options):
        @kind(f"{name}-{variant}", late=True, **options)
        def _apply(case, random):
            change(case)
            set_list(case, *(word.format(vg=case.main.name) for word in words))

    register("none", [], silent=True)
    register("other", ["another"], silent=True)
    register("vg", ["{vg}"])
    register("lv", ["another", "{vg}/lv0"], volumes=2)
    register("vg-tag", ["@chosen"], lambda case: case.main.tags.append("chosen"))
    register("lv-tag", ["@chosen"], lambda case: case.main.volumes[0].tags.append("chosen"), volumes=2)
    register("host-tag", ["@*"], lambda case: (case.main.tags.append("chosen"),
                                               case.conf.update({("tags", "chosen"): "{ }"})))


list_kinds("automatic-list", "auto_activation_volume_list")
list_kinds("volume-list", "volume_list")


def filter_kinds(name, key):
    def reject(case, random):
        return [f"r|^{random.choice(case.device_names())}$|"]

    def accept(case, random):
        return [f"a|^{device}$|" for device in case.device_names()] + ["r|.*|"]

    def accept_some(case, random):
        device = random.choice(case.device_names())
        return [f"a|^{other}$|" for other in case.device_names() if other != device] + ["r|.*|"]

    def by_id(case, random):
        return [f"a|^/dev/disk/by-id/lvm-pv-uuid-<UUID {number}>$|" for number in range(len(case.arrivals))] + ["r|.*|"]

    def register(variant, make, **options):
        @kind(f"{name}-{variant}", late=True, **options)
        def _apply(case, random):
            case.conf["devices", key] = "[ " + ", ".join(f'"{pattern}"' for pattern in make(case, random)) + " ]"

    register("reject", reject, refuses=True)
    register("accept", accept)
    register("accept-some", accept_some, refuses=True)
    register("by-id", by_id, silent=True)
    register("all", lambda case, random: ["r|.*|"], silent=True)


filter_kinds("filter", "filter")
filter_kinds("global-filter", "global_filter")


def devices_file_kind(variant, choose, **options):
    @kind(f"devices-file-{variant}", late=True, **options)
    def _apply(case, random):
        case.conf["devices", "use_devicesfile"] = "1"
        case.devices_file = choose(len(case.arrivals), random)


devices_file_kind("all", lambda count, random: [(number, number) for number in range(count)])
devices_file_kind("none", lambda count, random: [], silent=True)
devices_file_kind("some", lambda count, random: [(number, number) for number in random.sample(range(count), count - 1)],
                  refuses=True)
devices_file_kind("renamed", lambda count, random: [(number, (number + 1) % count) for number in range(count)])


@kind("min-size", late=True, silent=True)
def min_size(case, random):
    case.conf["devices", "pv_min_size"] = str((DISK_MIB + 1) * 1024)


@kind("event-off", late=True, silent=True)
def event_off(case, random):
    case.conf["global", "event_activation"] = "0"


@kind("stale-record", pvs=2, refuses=True)
def stale_record(case, random):
    number = random.randrange(len(case.main.pvs))
    case.main.pvs[number].comes = False
    case.run_files[f"pvs_online/<PVID 0 {number}>"] = f"8:240\nvg:{case.main.name}\ndev:/dev/sdp\n"


# Not together with two VGs of one identifier: each is a known difference, and neither explains both.
@kind("stale-record-moved", refuses=True, family="same")
def stale_record_moved(case, random):
    case.run_files[f"pvs_online/<PVID 0 {random.randrange(len(case.main.pvs))}>"] = "8:240\ndev:/dev/sdp\n"


@kind("stale-lookup", refuses=True, family="same")
def stale_lookup(case, random):
    case.run_files[f"pvs_lookup/{case.main.name}"] = "<PVID 0 0>\n"


@kind("stale-claim", refuses=True, family="same")
def stale_claim(case, random):
    case.run_files[f"vgs_online/{case.main.name}"] = ""


# ------ names: hard ones that lvm2 makes itself, and those that it would not make, but takes or not when it finds them

ALLOWED = string.ascii_letters + string.digits + "._+-"
# What lvm2 makes is two bytes shorter than what device-mapper takes.
VG_LONG, LV_LONGEST_MADE, LV_LONGEST = "v" * 64, "l" * 60, "l" * 62
CAUGHT = "$(touch /run/guest/caught)"
STRANGE = [
    "--all", "..", CAUGHT, "a'b\"c`touch /run/guest/caught`", "a@b%i\\x2d", "*", "@a", "a\n<3>headgate: all is lost",
    "a\x1b[2J\x1b]0;caught\x07", "a b", "\u00fc\u202e\udcff", "l" * 128,
]
# lvm2 keeps these for itself.
RESERVED = ["snapshot0", "pvmove0", "a_mlog", "a_rimage_0", "a_tdata", "a_vorigin", "lvol0_pmspare"]
# /dev has these already.
TAKEN = ["mapper", "disk", "shm", "pts", "null", "tty", "zero"]


def quoted(text):
    """As lvm2's parser takes it: a name may be a string, too."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def edit(group, pattern, *words):
    """Put the last of the words in the place of the pattern, with the others in quotes for each {} in it."""
    *texts, replacement = words
    new = replacement.format(*map(quoted, texts))
    group.edits.append((pattern, lambda match: new))


def rename_group(group, name):
    edit(group, r"\A\S+ \{", name, "{} {{")


def rename_volume(group, old, new):
    edit(group, rf"(?m)^{re.escape(old)} \{{", new, "{} {{")


@kind("name-bytes", family="name")
def name_bytes(case, random):
    """All that lvm2 allows, but for the first one."""
    case.main.name = "v" + "".join(random.sample(ALLOWED, len(ALLOWED)))
    case.main.volumes[0].name = "v" + "".join(random.sample(ALLOWED, 30))


@kind("name-long", family="name")
def name_long(case, random):
    case.main.name = VG_LONG
    case.main.volumes = [Volume(LV_LONGEST_MADE, "linear")]
    rename_volume(case.main, LV_LONGEST_MADE, random.choice([LV_LONGEST_MADE, LV_LONGEST]))


@kind("name-too-long", family="name", refuses=True)
def name_too_long(case, random):
    case.main.name = VG_LONG
    case.main.volumes = [Volume(LV_LONGEST_MADE, "linear")]
    rename_volume(case.main, LV_LONGEST_MADE, LV_LONGEST + "l")


@kind("name-dashes", family="name")
def name_dashes(case, random):
    """VG and LV in one name are told apart by the number of dashes only."""
    case.main.name = "a-b"
    case.main.volumes[0].name = "c"
    case.groups += [Group("a", [Pv()], [Volume("b-c", "linear"), Volume("b--c", "linear")]),
                    Group("a--b", [Pv()], [Volume("c", "linear")]), Group("a-b-c", [Pv()], [Volume("c--d-", "linear")])]


@kind("name-taken", family="name", late=True)
def name_taken(case, random):
    rename_group(case.main, random.choice(TAKEN))


@kind("name-of-vg-strange", refuses=True, family="name")
def name_of_vg_strange(case, random):
    texts = random.sample(STRANGE + ["../../etc"], 3)
    case.groups += [Group(f"strange{number}", [Pv()], [Volume("lv0", "linear")]) for number in range(2)]
    for group, text in zip([case.main] + case.groups[-2:], texts):
        rename_group(group, text)


@kind("name-of-lv-strange", family="name")
def name_of_lv_strange(case, random):
    for number, text in enumerate(random.sample(STRANGE, 3)):
        case.main.volumes.append(Volume(f"strange{number}", "linear"))
        rename_volume(case.main, f"strange{number}", text)


@kind("name-of-lv-reserved", family="name")
def name_of_lv_reserved(case, random):
    case.main.volumes.append(Volume("strange", "linear"))
    rename_volume(case.main, "strange", random.choice(RESERVED))


@kind("strange-tags", family="value")
def strange_tags(case, random):
    edit(case.main, r"(?m)^extent_size = ", *STRANGE, "tags = [" + ", ".join(["{}"] * len(STRANGE)) + "]\nextent_size = ")


@kind("strange-system-id", family="id", refuses=True)
def strange_system_id(case, random):
    case.conf |= HAS_ID
    edit(case.main, r"(?m)^extent_size = ", random.choice(STRANGE), "system_id = {}\nextent_size = ")


@kind("strange-places", family="value")
def strange_places(case, random):
    """Where a PV was when lvm2 wrote of it."""
    edit(case.main, r'(?m)^device = ".*"', "/dev/" + random.choice(STRANGE), "device = {}")


@kind("strange-segment", family="value", refuses=True, volumes=2)
def strange_segment(case, random):
    case.main.volumes.append(Volume("strange", "linear"))
    text = quoted(random.choice(STRANGE))
    case.main.edits.append((r'(?ms)^(strange \{.*?type = )"striped"', lambda match: f"{match[1]}{text}"))


@kind("partial", pvs=2, refuses=True)
def partial(case, random):
    missing(case, random)
    case.conf["activation", "activation_mode"] = random.choice(['"partial"', '"degraded"'])


# ------ the generator

def generate(seed, count):
    """Cases 1 to `count`. Each kind of trouble comes about equally often."""
    deck = sorted(KINDS)
    randomness.Random(seed).shuffle(deck)
    return [make(seed, number, deck) for number in range(1, count + 1)]


def make(seed, number, deck):
    random = randomness.Random(f"{seed}/{number}")
    turn, place = divmod(number - 1, len(deck))
    kinds = [deck[place]]
    # Every second time a kind is by itself, so that nothing else keeps lvm2 from activating anything.
    if (turn + place) % 2:
        other = random.choice(deck)
        if KINDS[other].family != KINDS[kinds[0]].family and not any(KINDS[name].silent for name in (other, *kinds)):
            kinds.append(other)
    case = Case(number, kinds)
    chosen = [KINDS[name] for name in kinds]

    case.groups.append(make_group(random, f"vg{number}", max(kind.pvs for kind in chosen),
                                  max(kind.volumes for kind in chosen)))
    if any(kind.refuses for kind in chosen) or random.random() < 0.2:
        case.groups.append(Group(f"other{number}", [Pv()], [Volume("lv0", "linear")]))
    for kind in chosen:
        if not kind.late:
            kind.apply(case, random)
    fit(case)

    case.arrivals = [pv for pv in case.pvs() if pv.comes for _ in range(1 + pv.twin)]
    random.shuffle(case.arrivals)
    case.paced = any(kind.order for kind in chosen) or random.random() < 0.3
    for kind in chosen:
        if kind.late:
            kind.apply(case, random)
    return case


def make_group(random, name, pvs_min, volumes_min):
    count = max(pvs_min, random.choice([1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8]))
    pvs = [Pv(copies=random.choice([0, 1, 1, 1, 1, 2]), ignored=random.random() < 0.15) for _ in range(count)]
    # At least one has to tell of the VG.
    if not any(pv.copies and not pv.ignored for pv in pvs):
        chosen = random.choice(pvs)
        chosen.copies, chosen.ignored = random.randint(1, 2), False
    volumes = [Volume("lv0", "linear")]
    while len(volumes) < volumes_min or random.random() < 0.5 and len(volumes) < 3:
        possible = [kind for kind, needed in VOLUME_KINDS.items() if needed <= count]
        volumes.append(Volume(f"lv{len(volumes)}", random.choice(possible)))
    return Group(name, pvs, volumes)


def fit(case):
    """Leave out PVs for which there are no disks. What kinds have done to others stays, and so do PVs that kinds have
    made, which are the last ones."""
    def disks():
        return sum(1 + pv.twin for pv in case.pvs() if pv.comes and not pv.loop)

    def is_dispensable(pv):
        return pv == Pv(copies=pv.copies, ignored=pv.ignored) and any(
            other.copies and not other.ignored and other is not pv and not (other.left or other.joined)
            for other in case.main.pvs) and len(case.main.pvs) > 2

    while disks() > DISKS_MAX:
        case.main.pvs.remove(next(pv for pv in case.main.pvs if is_dispensable(pv)))
