#!/usr/bin/env python3
"""Counts the results that test/integration/run has written: a line per package, and the tests that failed.

A test counts as external if the program under test was started in it, in a test around it or in one of
its own parts; the others have plugins of their own or ask kube-scheduler's functions directly, and say
nothing about an external scheduler. Only tests without parts are counted."""

import argparse
import pathlib
import re
import sys

EVENT = re.compile(r"^\s*(=== (RUN|NAME|CONT|PAUSE)|--- (PASS|FAIL|SKIP):) +(\S+)")


def read(path):
    """({test: verdict}, {test: "external" or "in process"}) of one log."""
    verdicts, started, now = {}, {}, ""
    for line in path.read_text(errors="replace").splitlines():
        event = EVENT.match(line)
        if event and event[3]:
            verdicts[event[4]] = event[3]
            now = event[4].rpartition("/")[0]
        elif event:
            now = event[4]
            verdicts.setdefault(now, "FAIL")  # until it says otherwise: it may not get there
        elif "INTEGRATION: " in line and now:
            how = line.partition("INTEGRATION: ")[2]
            started[now] = "external" if how.startswith("external") else "in process"
    return verdicts, started


def leaves(verdicts):
    around = {name.rpartition("/")[0] for name in verdicts}
    return {name: verdict for name, verdict in verdicts.items() if name not in around}


def spread(verdicts, started):
    """A program that a test starts for all its parts says so while the first of them runs."""
    parts = {}
    for name in verdicts:
        parts.setdefault(name.rpartition("/")[0], []).append(name)
    for around, names in parts.items():
        if around and len(names) > 1 and [n for n in names if n in started] == names[:1]:
            started.setdefault(around, started[names[0]])


def how(name, started):
    while name:
        if name in started:
            return started[name]
        name = name.rpartition("/")[0]
    return "not run"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--results", required=True, type=pathlib.Path)
    options = parser.parse_args()
    failed, passed = [], 0
    print(f"{'package':<45} external: passed failed skipped   in process")
    for package in options.packages:
        verdicts, started = read(options.results / f"{package.replace('/', '_')}.log")
        spread(verdicts, started)
        counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
        inside = 0
        for name, verdict in leaves(verdicts).items():
            if how(name, started) != "external":
                inside += 1
                continue
            counts[verdict] += 1
            if verdict == "FAIL":
                failed.append(f"{package}: {name}")
        passed += counts["PASS"]
        passes, fails, skips = counts.values()
        print(f"{package:<45} {passes:>16} {fails:>6} {skips:>7} {inside:>12}")
    for name in failed:
        print("FAILED", name)
    print(f"{passed} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
