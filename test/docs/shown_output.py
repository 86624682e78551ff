#!/usr/bin/env python3
"""What the documents show of a command is what the command prints.

    test/docs/shown_output.py PROGRAM            compares; the exit code is 1 if something differs
    test/docs/shown_output.py PROGRAM --update   writes the documents again

A shown command is an indented line "$ berth …" (or "$ build/bin/berth …"), and its output the indented
lines after it. Commands are run if they read nothing but files of this repository. Times and rates
may differ.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INDENT = "    "
COMMAND = re.compile(INDENT + r"\$ (?:build/bin/)?berth (simulate|plan|config|explain) (.*)")
TIMES = re.compile(r"in [0-9.]+ s( \([0-9,]+ pods/s\))?")


def runs_alone(arguments):
    files = re.findall(r"(?:-f|--scenario|--config)[ =](\S+)", arguments)
    return files and all((ROOT / name).exists() for name in files)


def shown(lines, begin):
    """The end of the output that starts at `begin`, without blank lines behind it."""
    end = begin
    while end < len(lines) and (lines[end].startswith(INDENT) or not lines[end].strip()):
        if lines[end].startswith(INDENT + "$ "):
            break
        end += 1
    while end > begin and not lines[end - 1].strip():
        end -= 1
    return end


def output(program, line):
    command = re.sub(r"\$ (?:build/bin/)?berth", program, line.strip(), count=1)
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    text = (done.stdout + done.stderr).rstrip("\n")
    return [(INDENT + text_line).rstrip() for text_line in text.splitlines()]


def alike(a, b):
    return [TIMES.sub("in TIME", x) for x in a] == [TIMES.sub("in TIME", x) for x in b]


def check(program, path, update):
    """The number of commands, and of those whose output is another."""
    lines = path.read_text().splitlines()
    count = wrong = at = 0
    while at < len(lines):
        found = COMMAND.match(lines[at])
        at += 1
        if not found or not runs_alone(found[2]):
            continue
        count += 1
        end = shown(lines, at)
        new = output(program, lines[at - 1])
        if alike(lines[at:end], new):
            continue
        wrong += 1
        if update:
            lines[at:end] = new
        else:
            print(
                "\n".join(difflib.unified_diff(lines[at:end], new, str(path), "now", lineterm=""))
            )
    if wrong and update:
        path.write_text("\n".join(lines) + "\n")
    return count, wrong


def main():
    program, update = str(pathlib.Path(sys.argv[1]).resolve()), "--update" in sys.argv
    results = [
        check(program, path, update)
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    ]
    count, wrong = (sum(column) for column in zip(*results, strict=True))
    print(f"{count} commands are shown, {wrong} with other output")
    sys.exit(1 if count == 0 or (wrong and not update) else 0)


main()
