# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is recorded, and how: which commands are run in a situation, and what of their answers is masked. Recordings that are read
were made in the same way."""

import lzma
import json
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "lib"))
from described import SECOND     # noqa: E402
from machine import environment  # noqa: E402

RECORDINGS = FOLDER / "before.jsonl.xz"
# Times in what is written are of the first seconds; what is more is as much as now.
USEC_MAX = 30 * SECOND


def write(content, root):
    """Makes files, links and folders below it."""
    for path in content["folders"]:
        (root / path).mkdir(parents=True, exist_ok=True)
    for path, text in content["files"].items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    for path, target in content["links"].items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(target)


def mask_number(match):
    return f"{match[1]}{match[2] if int(match[2]) < USEC_MAX else 0}"


def mask(text, root):
    """Without where the files are, how long ago something was, and versions of what is installed."""
    text = text.replace(str(root), "ROOT")
    text = re.sub(r"(?<=, )[0-9a-z. ]+ ago", "* ago", text)
    text = re.sub(r'("[a-z0-9_]+_usec": *)(\d+)', mask_number, text)
    return re.sub(r'("check": *"versions",\s*"result": *"[a-z]+",\s*"detail": *)"[^"]*"', r'\1"*"', text)


def run(headgate, root, arguments):
    """The exit status, and what is printed as JSON."""
    arguments = [argument.replace("ROOT", str(root)) for argument in arguments]
    surroundings = environment(root) | {"HEADGATE_JOURNAL": str(root / "no-journal")}
    ended = subprocess.run([headgate, *arguments], env=surroundings, encoding="utf-8", stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=False, timeout=100)
    return ended.returncode, mask(ended.stdout, root)


def read():
    """The recordings: a name, the machine, and runs of arguments, exit status and text."""
    with lzma.open(RECORDINGS, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
