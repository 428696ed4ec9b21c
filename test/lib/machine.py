# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine below a folder: what headgated, lvm2 and the kernel leave there for headgate to read."""

import atexit
import os
import shutil
import subprocess
from pathlib import Path

import records
from records import identifier


class Machine:
    """Whoever needs more of it adds to it."""

    def __init__(self, folder, in_charge=True):
        self.root = Path(folder)
        self.run, self.lvm = self.root / "run/headgate", self.root / "run/lvm"
        for path in self.run, self.lvm / "pvs_online", self.lvm / "vgs_online", self.root / "etc/lvm/backup", self.root / "dev":
            path.mkdir(parents=True)
        if in_charge:
            (self.run / "taken-over").touch()

    def write(self, path, text=""):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def environment(self, **more):
        """What has headgate look below this folder and nowhere else."""
        return environment(self.root) | more

    def call(self, *words, **more):
        return subprocess.run(words, env=self.environment(**more), encoding="utf-8", stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)

    def record(self, vgid, text):
        records.put(self.run, vgid, text)

    def active(self, name, uuid, minor=None):
        """A device of device-mapper's, as sysfs shows it."""
        devices = self.root / "sys/class/block"
        if minor is None:
            minor = len(list(devices.glob("dm-*")))
        for path, text in {"dev": f"254:{minor}", "dm/name": name, "dm/uuid": uuid}.items():
            self.write(devices / f"dm-{minor}" / path, f"{text}\n")

    def systemd(self, text):
        """Has systemd answer what the text says, see test/unit/fake-systemd.h, until this program ends."""
        self.write("systemd", text)
        server = subprocess.Popen([os.environ["HEADGATE_TEST_SYSTEMD"], self.root], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(server.communicate)
        assert server.stdout.readline() == b"ready\n"

    def nothing_is_active(self):
        shutil.rmtree(self.root / "sys/class/block", ignore_errors=True)

    def volume_group(self, number, name, state, times, n_pvs=1, n_seen=None, reason=None, realtime=0, device=None, **more):
        """The record of a VG with one LV; `times` are first seen, complete, asked, settled; `more` goes into it."""
        pvs = [records.pv(identifier("p", number * 100 + pv),
                          f"{8 + number // 200}:{number % 200 * 16 + pv}" if n_seen is None or pv < n_seen else "",
                          device or f"/dev/sd{number}") for pv in range(n_pvs)]
        lvs = [records.lv("lv", identifier("l", number), active=state == "active")]
        self.record(identifier("v", number), records.volume_group(
            name, identifier("v", number), state, pvs, lvs, seqno=2, slow=0, **dict(zip(records.TIMES, times)),
            clock_usec=realtime and realtime - times[3], reason=reason, **more))

    def activate(self, number, name):
        """That LV is active."""
        self.active(f"{name}-lv", f"LVM-{identifier('v', number)}{identifier('l', number)}", number)


def environment(root):
    """What has headgate look below this directory and nowhere else."""
    plain = {key: text for key, text in os.environ.items()
             if not key.startswith(("HEADGATE_", "LVM_")) and key not in ("NO_COLOR", "TERM")}
    return plain | {"HEADGATE_ROOT": str(root), "HEADGATE_RUN_DIRECTORY": str(root / "run/headgate"),
                    "HEADGATE_LVM_RUN_DIRECTORY": str(root / "run/lvm"), "LVM_SYSTEM_DIR": str(root / "etc/lvm"),
                    "LC_ALL": "C.UTF-8", "TZ": "UTC"}
