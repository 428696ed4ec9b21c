# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine to break things on: a /run of its own, three VGs on devices that udev seems to have announced, a program in the
place of lvm, and what systemd does for the worker."""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "lib"))
import records  # noqa: E402

# Which images, and the VG on them.
VOLUME_GROUPS = {"plain": ("plain-1", "plain-2"), "a-b--c": ("hyphens-1",), "v": ("longlv-1",)}
RUN = Path("/run")
STATE = RUN / "headgate"
CLONE_NEWNS = 0x20000
CLONE_NEWNET = 0x40000000
DEVICES = Path("/sys/dev/block")
# How long a worker may take that needs a tenth of a second by itself.
SETTLED_S = 2
RESTARTS_MAX = 6


def hide(network=False):
    """Nothing that is done to this process's /run, or to its network, from now on is seen from outside."""
    unshare(CLONE_NEWNS | (CLONE_NEWNET if network else 0))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", RUN], check=True)
    STATE.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", STATE], check=True)
    hide_devices()


def hide_devices():
    """The kernel has the same block devices, and those that are removed are gone."""
    links = {path: os.readlink(path) for path in DEVICES.iterdir()}
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", DEVICES], check=True)
    for path, target in links.items():
        path.symlink_to(target)


def unshare(namespaces):
    """What os.unshare() does from Python 3.12 on."""
    if ctypes.CDLL(None, use_errno=True).unshare(namespaces) < 0:
        raise OSError(ctypes.get_errno(), "unshare")


def block_devices():
    """Names of block devices that this machine has; of none more than its name and number is used."""
    names = sorted(path.name for path in Path("/sys/class/block").iterdir() if Path("/dev", path.name).is_block_device())
    return sorted(names, key=lambda name: not name.startswith("loop"))


def identifiers(metadata):
    """Of a VG's metadata, as lvm2 writes them: its own identifier, and name and identifier of each LV."""
    own = re.search(r'id = "([\w-]+)"', metadata)[1]
    lvs = re.findall(r'^(\S+) \{\n+id = "([\w-]+)"', metadata[metadata.index("logical_volumes"):], re.M)
    return own.replace("-", ""), [(name, identifier.replace("-", "")) for name, identifier in lvs]


class WorkerMachine:
    """Only after hide()."""

    def __init__(self, build, images):
        self.worker_program = build / "test/headgated-with-fake-dm"
        self.takeover = build / "src/headgate-takeover"
        self.headgate = build / "test/headgate-with-fake-dm"
        self.images = images
        self.free = block_devices()
        self.numbers = {}
        self.paths = {}  # of images, and what the kernel and udev have of them when they are there
        self.links = {}
        self.removed = None  # the image that has gone
        self.deactivated = None  # the VG that was deactivated by hand
        self.journal_is_full = False
        self.socket = None
        self.whole = None  # what half_written() compares with: the first time
        self.make_tables()
        self.environment = {"PATH": os.environ["PATH"], "HEADGATE_ROOT": "/run/root", "HEADGATE_LVM": str(HERE / "lvm"),
                            "INVOCATION_ID": "0" * 32, "HEADGATE_LOG_LEVEL": "4"}
        self.show_cgroup()
        (RUN / "systemd/journal").mkdir(parents=True)
        self.journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.journal.bind(str(RUN / "systemd/journal/socket"))

    def take_logged(self):
        """How many lines have come for the journal, which are kept for who reads of a failure."""
        if self.journal_is_full:
            return 1
        lines = []
        with contextlib.suppress(BlockingIOError):
            while True:
                lines.append(self.journal.recv(65536, socket.MSG_DONTWAIT).decode(errors="replace"))
        with open(RUN / "worker-log", "a", encoding="utf-8") as log:
            log.writelines(line.splitlines()[0] + "\n" for line in lines)
        return len(lines)

    def make_tables(self):
        for folder in ("devices", "vgs"):
            (RUN / "table" / folder).mkdir(parents=True)
        for folder in ("udev/data", "udev/tags/headgate", "root/dev/mapper"):
            (RUN / folder).mkdir(parents=True)
        for vg, images in VOLUME_GROUPS.items():
            own, lvs = identifiers((self.images / f"{images[0]}.metadata").read_text(errors="replace").rstrip("\0"))
            lines = [f"253:{len(self.numbers) * 100 + i} {vg.replace('-', '--')}-{name.replace('-', '--')} LVM-{own}{lv} linear"
                     for i, (name, lv) in enumerate(lvs)]
            (RUN / "table/vgs" / vg).write_text("\n".join(lines) + "\n")
            for image in images:
                self.announce(image, vg)

    def announce(self, image, vg):
        """Lays an image over the node of a device, and makes what udev's database has of one that headgate's rule has tagged."""
        device = Path("/dev", self.free.pop(0))
        number = Path("/sys/class/block", device.name, "dev").read_text().strip()
        self.paths[image] = device
        self.links[image] = os.readlink(DEVICES / number)
        self.numbers[image] = number
        # Others on this machine attach loop devices and detach them, which is another disk each time.
        facts, kept = Path("/sys/class/block", device.name, "uevent"), RUN / f"table/{device.name}"
        kept.write_text(facts.read_text())
        subprocess.run(["mount", "--bind", kept, facts], check=True)
        self.plug_in(image)
        with open(self.images / f"{image}.img", "rb") as label:
            label.seek(512 + 32)
            pvid = label.read(32).decode()
        (RUN / "table/devices" / device.name).write_text(f"{pvid} {vg} {number}\n")

    def plug_in(self, image):
        number = self.numbers[image]
        subprocess.run(["mount", "--bind", self.images / f"{image}.img", self.paths[image]], check=True)
        if not (DEVICES / number).is_symlink():
            (DEVICES / number).symlink_to(self.links[image])
        (RUN / f"udev/data/b{number}").write_text("I:1\nE:HEADGATE_SCAN=1\nE:HEADGATE_ANNOUNCED=1\nG:headgate\nQ:headgate\nV:1\n")
        (RUN / f"udev/tags/headgate/b{number}").touch()

    def remove(self, image):
        """What is left of a disk that has gone is whoever has it open, and a request of udev's rule."""
        number = self.numbers[image]
        self.removed = image
        (DEVICES / number).unlink()
        (RUN / f"udev/data/b{number}").unlink()
        (RUN / f"udev/tags/headgate/b{number}").unlink()
        subprocess.run(["umount", "--lazy", self.paths[image]], check=True)
        self.ask_for_devices(only={image})

    def deactivate(self, vg):
        """As vgchange -an does."""
        self.deactivated = vg
        table = RUN / "root/dev/mapper/control"
        own = (RUN / "table/vgs" / vg).read_text().splitlines()
        table.write_text("".join(f"{line}\n" for line in table.read_text().splitlines() if line not in own))
        (RUN / "table/active" / vg).rmdir()
        (RUN / "lvm/vgs_online" / vg).unlink()

    def allow_degraded(self, vgs):
        """By headgate.conf: these are activated without PVs that have been missing for a second."""
        settings = RUN / "root/etc/headgate/headgate.conf"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text("volume_groups { " + " ".join(f'{vg} {{ degraded = "yes" deadline = 1 }}' for vg in vgs) + " }\n")

    def show_cgroup(self):
        """Processes of lvm that a worker has left are found through its cgroup."""
        own = next(line.split(":", 2)[2].strip() for line in open("/proc/self/cgroup") if line.startswith("0::"))
        (RUN / "processes").touch()
        subprocess.run(["mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup"], check=True)
        subprocess.run(["mount", "--bind", RUN / "processes", f"/sys/fs/cgroup{own}/cgroup.procs"], check=True)

    def begin(self):
        """A boot: nothing is active, and all devices have been asked for."""
        if self.removed:
            self.plug_in(self.removed)
            self.removed = None
        self.deactivated = None
        for path in (*STATE.iterdir(), RUN / "lvm", RUN / "table/active"):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        for path in (STATE / "pending.d", STATE / "working.d", RUN / "lvm/pvs_online", RUN / "lvm/vgs_online",
                     RUN / "lvm/pvs_lookup", RUN / "table/active"):
            path.mkdir(parents=True, mode=0o700)
        for path in (RUN / "root/dev/mapper/control", RUN / "lvm-calls", RUN / "processes", RUN / "worker-log"):
            path.write_text("")
        (STATE / "boot-finished").touch()
        records.put_all(STATE, {})
        if self.socket:
            self.socket.close()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(str(STATE / "wakeup"))

    def fill_journal(self):
        """Nobody reads what is sent to it from now on, and nothing more can be sent."""
        self.journal_is_full = True
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, contextlib.suppress(BlockingIOError):
            while True:
                sender.sendto(b"MESSAGE=\n", socket.MSG_DONTWAIT, str(RUN / "systemd/journal/socket"))

    def ask_for_devices(self, but=None, only=None, prefix=""):
        """As many headgate-request do; with the prefix "change:" because somebody has written to the devices."""
        for image, number in self.numbers.items():
            if image != but and (only is None or image in only):
                (STATE / "pending.d" / f"{prefix}{number}").touch()
        (STATE / "pending").touch()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as requester:
            requester.sendto(b"wake", str(STATE / "wakeup"))

    def start(self, wrapper=()):
        """The worker, with the socket as systemd hands it over."""
        command = [*wrapper, str(self.worker_program)]
        pid = os.fork()
        if pid == 0:
            log = os.open(RUN / "worker-log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.dup2(self.socket.fileno(), 3)
            os.closerange(4, 64)
            os.set_inheritable(3, True)
            os.execvpe(command[0], command, self.environment | {
                "LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"})
        return pid

    def is_settled(self):
        """All VGs are up, and that is written down; all requests have come to their end."""
        if any((STATE / "pending.d").iterdir()) or any((STATE / "working.d").iterdir()) or (STATE / "pending").exists():
            return False
        wanted = {vg: "waiting" if self.removed in images else "active" for vg, images in VOLUME_GROUPS.items()}
        return self.states() == wanted

    def states(self):
        """Of each VG, as it is on record."""
        texts = [text for text in records.read(STATE).values() if "state = " in text]
        return {vg: re.search(r'^state = "(\w+)', text, re.M)[1] for vg in VOLUME_GROUPS for text in texts if f'name = "{vg}"' in text}

    def run_to_the_end(self, pid, seconds=SETTLED_S):
        """What systemd calls the result of the unit: waits until all is up, and stops the worker then. A worker that does
        not come to an end is one that the watchdog, or a person, kills."""
        until = time.monotonic() + seconds
        stopped = False
        while time.monotonic() < until:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                break
            if not stopped and self.is_settled():
                os.kill(pid, signal.SIGTERM)
                stopped = True
            if stopped:
                # A fault that stops the worker may come at its end.
                os.kill(pid, signal.SIGCONT)
            time.sleep(0.003)
        else:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return "timeout", "KILL"
        if os.WIFEXITED(status):
            code = os.WEXITSTATUS(status)
            return ("success" if code == 0 else "exit-code"), str(code)
        return "signal", signal.Signals(os.WTERMSIG(status)).name.removeprefix("SIG")

    def stopped(self, result, status, wrapper=()):
        """ExecStopPost=."""
        with open(RUN / "worker-log", "a", encoding="utf-8") as log:
            subprocess.run([*wrapper, self.takeover, "worker-stopped"], check=False, stdout=log, stderr=log,
                           env=self.environment | {"SERVICE_RESULT": result, "EXIT_STATUS": status})

    def is_woken(self):
        """What is in the socket, for which systemd would start a worker."""
        try:
            return self.socket.recv(16, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return b""

    def work(self, wrapper=()):
        """Runs the worker until systemd would not start it any more. Returns the results of its runs."""
        results = []
        self.silent = []
        while len(results) < RESTARTS_MAX:
            printed = (RUN / "worker-log").stat().st_size
            result, status = self.run_to_the_end(self.start(wrapper))
            # The dynamic linker has nothing but standard error.
            said = (RUN / "worker-log").stat().st_size > printed
            if not self.take_logged() and not said and result == "exit-code":
                self.silent.append(f"the worker ended with {status} and logged nothing")
            self.stopped(result, status)
            results.append(f"{result} ({status})")
            wrapper = ()
            if result == "success" and (self.is_settled() or not self.is_woken()):
                break
        return results

    def problems(self):
        """What is not as it has to be in the end."""
        calls = (RUN / "lvm-calls").read_text().splitlines()
        active = {path.name for path in (RUN / "table/active").iterdir()}
        found = [f"VG {vg} is not active" for vg, images in VOLUME_GROUPS.items()
                 if vg not in active and vg != self.deactivated and self.removed not in images]
        if self.deactivated in active:
            found.append(f"VG {self.deactivated} was activated, though somebody has deactivated it")
        found += [f"lvm was asked for {line}" for line in calls if "degraded" in line]
        found += [f"VG {line.split()[1]} was activated twice" for line in calls if line.startswith("twice")]
        if not found and not self.is_settled():
            found.append("all is active, but not written down")
        found += [f"{path} was left" for path in [*STATE.rglob(".*"), *(RUN / "lvm").rglob(".*"), *(STATE / "pending.d").iterdir(),
                                                 *(STATE / "working.d").iterdir()]]
        return found + ([] if self.removed or self.deactivated else self.half_written()) + self.silent

    def half_written(self):
        """Files that have less in them than they had when nothing went wrong."""
        now = self.shape()
        self.whole = self.whole or now
        return [f"{name}: {now.get(name)}, not {shape}" for name, shape in self.whole.items() if now.get(name) != shape]

    def shape(self):
        """Of each record of headgate's and file of lvm2's, what is in it but for times, identifiers and what is over."""
        texts = records.read(STATE) | {str(path): path.read_text() for path in (RUN / "lvm").rglob("*") if path.is_file()}
        # Which of several disks that had the name it is, is not known if it could not be read.
        return {name: re.sub(r"(?m)^(\w*usec|first|diskseq) = .*\n", "", text) for name, text in texts.items()}
