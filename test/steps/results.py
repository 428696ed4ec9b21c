# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is kept of steps that have run: how long each takes, and of each commit, which have succeeded in which part."""

import json
import os
from pathlib import Path


class Results:
    """Two files in the build folder for each of "quick", "plain" and "all", whose steps of one name differ in size. That of
    the commit is left alone where something is not committed."""

    def __init__(self, folder, check, commit):
        folder.mkdir(parents=True, exist_ok=True)
        self.durations = folder / f"durations-{check}.json"
        self.verdicts = folder / f"{commit}-{check}.json" if commit else None

    def usual_seconds(self):
        return read(self.durations)

    def verdicts_of_commit(self):
        """Name of a step -> whether it has succeeded the last time."""
        return read(self.verdicts) if self.verdicts else {}

    def add(self, result):
        if result.ok:
            write(self.durations, read(self.durations) | {result.step.name: round(result.seconds, 1)})
        if self.verdicts:
            write(self.verdicts, self.verdicts_of_commit() | {result.step.name: result.ok})


def read(path):
    return json.loads(path.read_text()) if path.exists() else {}


def write(path, content):
    new = Path(f"{path}.new")
    new.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
    os.replace(new, path)


def parts_of(steps, count):
    """Divide steps into parts that take about as long: the same division each time, whatever was measured."""
    parts = [[] for _ in range(count)]
    # What is built is built wherever it is needed.
    own = [step for step in steps if step.kind != "build"]
    for step in sorted(own, key=lambda step: (-step.cost, step.name)):
        min(parts, key=lambda part: sum(member.cost for member in part)).append(step)
    return parts
