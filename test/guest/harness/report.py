# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a guest reports: its results device holds a tar of /run/guest as it was at the end."""

import contextlib
import json
import subprocess
import tarfile
from pathlib import Path

from harness.progress import Trouble, need_packages

VALIDATOR = Path(__file__).parents[2] / "json-is-valid"


def unpack(results, folder):
    """Unpack a file of results that may hold nothing at all."""
    with contextlib.suppress(tarfile.ReadError), tarfile.open(results, "r:") as tar:
        tar.extractall(folder)


class Report:
    def __init__(self, results, folder):
        """Unpack results to folder."""
        self.folder = folder
        unpack(results, folder)
        if not (folder / "journal").exists():
            raise Trouble("the guest ended without a report")
        self.checks = []
        self.finished = False
        for line in self.text("checks").splitlines():
            verdict, *rest = line.split("\t")
            if verdict == "finished":
                self.finished = True
            else:
                self.checks.append(dict(zip(("sentence", "expected", "seen", "at"), rest), ok=verdict == "ok"))

    def text(self, name):
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""

    def problems(self):
        """Why the scenario failed, as sentences; empty if everything held."""
        found = [f"{check['sentence']}: expected {check['expected']}, saw {check['seen']}"
                 for check in self.checks if not check["ok"]]
        if not self.finished:
            found.append("the scenario did not run to its end")
        elif not self.checks:
            found.append("the scenario checked nothing")
        if self.text("shutting-down") and not self.text("shutdown-log"):
            found.append("the shutdown did not come to its end")
        return found + self.invalid_json()

    def clues(self):
        """What the guest had to say about itself at the end, as lines, if something did not hold."""
        if all(check["ok"] for check in self.checks):
            return []
        return [f"FAILED unit: {line}" for line in self.text("failed-units").splitlines()] + self.text("warnings").splitlines()

    def invalid_json(self):
        """What is not as a schema says of the JSON that the scenario has kept, in a folder for each schema."""
        found = []
        for schema in sorted((self.folder / "json").glob("*")):
            need_packages("python3-jsonschema")
            run = subprocess.run([VALIDATOR, schema.name, *sorted(schema.iterdir())], stderr=subprocess.PIPE,
                                 encoding="utf-8", check=False)
            found += run.stderr.splitlines()
        return found

    def as_json(self):
        return {"checks": self.checks, "finished": self.finished,
                "values": self.pairs("data/values"), "lv_times": self.lv_times(),
                "versions": self.pairs("versions")}

    def lv_times(self):
        """Seconds from the guest's start to the link of each LV, where the scenario noted them."""
        return {name: float(seconds) for seconds, name in map(str.split, self.text("data/lv-times").splitlines())}

    def pairs(self, name):
        return dict(line.split("\t", 1) for line in self.text(name).splitlines())


class Reports:
    """The reports of several boots of one scenario."""

    def __init__(self, reports):
        self.reports = list(enumerate(reports, 1))

    def problems(self):
        return [f"boot {number}: {problem}" for number, report in self.reports for problem in report.problems()]

    def clues(self):
        return [f"boot {number}: {clue}" for number, report in self.reports for clue in report.clues()]

    def text(self, name):
        return "".join(report.text(name) for _, report in self.reports)

    def pairs(self, name):
        return self.reports[0][1].pairs(name)

    def as_json(self):
        checks, values = [], {}
        for number, report in self.reports:
            checks += [{**check, "boot": number} for check in report.checks]
            values |= report.pairs("data/values")
        return {"checks": checks, "finished": all(report.finished for _, report in self.reports), "values": values,
                "versions": self.pairs("versions")}


def write_json(path, content):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
        file.write("\n")
