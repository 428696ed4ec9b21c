# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the guests of a benchmark one after another, and says how long the rest will take."""

import datetime
import json
import subprocess
import tempfile
from pathlib import Path

from harness.progress import Trouble, say
from harness.scenario import read

REPOSITORY = Path(__file__).resolve().parents[3]
# Before anything has been measured: what a guest takes to boot and to report, and what a round takes for each disk and
# contender.
GUEST_SECONDS = 30
TURN_SECONDS_PER_DISK = 0.4


class Estimate:
    """How long the guests that are to come will take, by how long those took that have run."""

    def __init__(self, plan):
        self.left = list(plan)
        self.foreseen = self.taken = 0.0

    def guess(self, guest):
        turns = guest.rounds * max(1, len(guest.contenders))
        return GUEST_SECONDS + turns * (guest.disks or 16) * TURN_SECONDS_PER_DISK

    def minutes_left(self):
        pace = self.taken / self.foreseen if self.foreseen else 1
        return sum(map(self.guess, self.left)) * pace / 60

    def has_run(self, guest, seconds):
        self.left.remove(guest)
        self.foreseen += self.guess(guest)
        self.taken += seconds


class Guest:
    """One run of a scenario: of which benchmark, with how many disks, with which layout or row."""

    def __init__(self, benchmark, scenario, disks, layout, row, arguments):
        self.benchmark, self.scenario, self.disks = benchmark, scenario, disks
        self.kernel = arguments.kernel or (read(scenario, row=row).kernel if row else benchmark.kernel)
        self.rounds = arguments.rounds or benchmark.rounds
        self.contenders = arguments.contenders.split(",") if arguments.contenders else benchmark.contenders
        chosen = {"disks": disks, "layout": layout, "row": row, "suite": arguments.suite}
        self.chosen = {name: value for name, value in chosen.items() if value}
        self.limit, self.patience, self.build = arguments.limit, arguments.patience, arguments.build

    def __str__(self):
        return " ".join(filter(None, [self.benchmark.name, self.scenario, self.disks and f"{self.disks} disks",
                                      self.chosen.get("layout"), self.chosen.get("row")]))

    def run(self):
        """Boot it, and return what it has measured."""
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            result, log = Path(folder) / "result.json", Path(folder) / "log"
            with open(log, "w", encoding="utf-8") as output:
                status = subprocess.run(
                    [REPOSITORY / "test/guest/run", self.scenario, "--kernel", self.kernel,
                     "--rounds", str(self.rounds), "--limit", str(self.limit), "--patience", str(self.patience),
                     "--build", self.build, "--json", result,
                     *(["--contenders", ",".join(self.contenders)] if self.contenders else []),
                     *(word for name, value in self.chosen.items() for word in (f"--{name}", str(value)))],
                    stdout=output, stderr=subprocess.STDOUT, check=False).returncode
            if status != 0 or not result.exists():
                print(log.read_text(errors="replace")[-4000:])
                raise Trouble(f"{self}: the guest has failed")
            content = json.loads(result.read_text())
        return {"scenario": self.scenario, "kernel_of_guest": self.kernel, "measured": str(datetime.date.today()),
                **self.chosen, **content}


def guests_of(benchmark, disks, arguments):
    """All that the benchmark needs, for the numbers of disks asked for, or for its own."""
    return [Guest(benchmark, scenario, count, layout, row, arguments)
            for count in disks or benchmark.disks
            for layout in benchmark.layouts
            for scenario in (benchmark.scenario, *benchmark.others)
            for row in arguments.rows or read(scenario).rows or [None]]


def run_all(plan, clock):
    """Run the guests; yield each with what it has measured. One that failed is said, and the others go on."""
    estimate = Estimate(plan)
    for number, guest in enumerate(plan, 1):
        say(f"{guest} ({number} of {len(plan)}; about {max(1, round(estimate.minutes_left()))} min left)")
        begin = clock()
        try:
            yield guest, guest.run()
        except Trouble as trouble:
            say(f"FAILED: {trouble}")
            yield guest, None
        estimate.has_run(guest, clock() - begin)
