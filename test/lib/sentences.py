# SPDX-License-Identifier: LGPL-2.1-or-later
"""The sentences of a file, for test/prose: of comments, messages and titles, and of manual pages.

A piece of text is a Sentence with the line that it begins in, and its kind: "comment", "message", "page" of a manual, "document"
(Markdown), "heading" and "table" of both, or "title" of a test."""

import re
from bisect import bisect_right
from typing import NamedTuple


class Sentence(NamedTuple):
    line: int
    kind: str
    text: str


# An abbreviation ends no sentence.
END = re.compile(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.?!])[\"')*_]*\s+")
C_TOKEN = re.compile(r"""/\*.*?\*/|'(?:\\.|[^'\\\n])'|"(?:\\.|[^"\\])*"(?:\s*(?:\w+\s*)?"(?:\\.|[^"\\])*")*""", re.S)
C_TEST = re.compile(r"^START_TEST\((?:test_)?(\w+)\)", re.M)
PYTHON_TEST = re.compile(r"^ *def test_(\w+)", re.M)
STEP = re.compile(r'^[ \t]*(?:expect|when) "([^"]*)"', re.M)
SUBJECT = re.compile(r"^(?:Subject: |Description=)(.*)", re.M)


def sentences_of_lines(lines, kind):
    """Of (line number, text) pairs; an empty text ends a paragraph."""
    paragraph = []
    for number, text in [*lines, (0, "")]:
        if text:
            paragraph.append((number, text))
            continue
        starts, joined = [], ""
        for _, part in paragraph:
            starts.append(len(joined))
            joined += part + " "
        begin = 0
        for end in [*(match.end() for match in END.finditer(joined)), len(joined)]:
            if joined[begin:end].strip():
                yield Sentence(paragraph[bisect_right(starts, begin) - 1][0], kind, joined[begin:end].strip())
            begin = end
        paragraph = []


def line_at(text, offset):
    return text.count("\n", 0, offset) + 1


def comment_lines(number, comment):
    """Of a comment in C. What stands behind a gap in a line is the text of a list."""
    for offset, line in enumerate(comment[2:-2].split("\n")):
        line = re.sub(r"^\s*\*( |$)", "", line).strip().strip("-").strip()
        *before, last = re.split(r"\s{2,}", line)
        if before:
            yield number, ""
        if not line.startswith("SPDX"):
            yield number + offset, last


def message_lines(number, literals):
    # A macro between them is a word.
    text = "".join("X" if macro else literal for literal, macro in re.findall(r'"((?:\\.|[^"\\])*)"|(\w+)', literals))
    for part in re.split(r"\\n|\s{2,}", text.replace('\\"', '"')):
        yield number, part.strip()
        yield number, ""


def of_c(text):
    for match in C_TOKEN.finditer(text):
        number = line_at(text, match.start())
        if match[0].startswith("/*"):
            yield from sentences_of_lines(comment_lines(number, match[0]), "comment")
        elif match[0][0] == '"' and " " in match[0] and re.search(r"[a-z]{2}", match[0]):
            yield from sentences_of_lines(message_lines(number, match[0]), "message")


def of_page(text):
    """Of a manual page, without examples."""
    example, kind, lines, before = False, "page", [], ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() == "```":
            example = not example
        if example or line.strip() == "```" or line.startswith((";", "/", "    ")):
            line = ""
        in_table = re.match(r"\s*(?:\[\[|[|:\]][ \[<>-]|[|:\]]$)", line) is not None or (kind == "table" and line.startswith(" "))
        if in_table != (kind == "table"):
            yield from sentences_of_lines(lines, kind)
            kind, lines = "table" if in_table else "page", []
        # A term, an item and a heading begin anew, and their end is that of a sentence.
        if line.startswith("#"):
            yield from sentences_of_lines(lines, kind)
            lines = []
        if re.match(r"[ \t]*(?:[.-] |[\[|:\]])|\*", line) or line.startswith("\t") > before.startswith("\t"):
            lines.append((number, ""))
        before = line
        lines.append((number, re.sub(r"^\s*(?:[.#*-]+ |\[\[|[|:\]][\[<>-]?)|[*_]|\+\+$|\]\([^)]*\)", "", line).strip() if line.strip() else ""))
        if line.startswith("#"):
            yield from sentences_of_lines(lines, "heading")
            lines = []
    yield from sentences_of_lines(lines, kind)


def of_subjects(text):
    for match in SUBJECT.finditer(text):
        yield from sentences_of_lines([(line_at(text, match.start()), match[1])], "message")


def of_comments(text):
    """Of comments that begin with "#"."""
    lines = [(number, re.sub(r"^\s*#+ ?", "", line).strip() if re.match(r"\s*#(?!!)", line) and "SPDX" not in line else "")
             for number, line in enumerate(text.split("\n"), 1)]
    yield from sentences_of_lines(lines, "comment")
    yield from of_subjects(text)


def of_catalog(text):
    lines = [(number, "" if re.match(r"-- |#|[A-Z][\w-]*: ", line) else line) for number, line in enumerate(text.split("\n"), 1)]
    yield from sentences_of_lines(lines, "message")
    yield from of_subjects(text)


def of_titles(text):
    """Of a scenario or a test: its first line, and what it expects."""
    for pattern in (STEP, C_TEST, PYTHON_TEST):
        for match in pattern.finditer(text):
            yield Sentence(line_at(text, match.start()), "title", match[1].replace("_", " "))
    first = re.match(r"(?:#!.*\n)?# SPDX.*\n#? ?(.+)", text)
    if first:
        yield Sentence(line_at(text, first.end()), "title", first[1].strip('"'))


def sentences_of(name, text):
    """All sentences of a file, by its name in the project."""
    if name.startswith("test/"):
        return of_titles(text)
    if name.endswith((".c", ".h")):
        return of_c(text)
    if name.endswith(".scd"):
        return of_page(text)
    if name.endswith(".md") or name == "NEWS":
        return (sentence._replace(kind=sentence.kind.replace("page", "document")) for sentence in of_page(text))
    if name.endswith(".catalog"):
        return of_catalog(text)
    return of_comments(text)
